/* SPDX-License-Identifier: MIT */
#include "cmd/heap/wanted.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"

int sxs_heap_wanted_add(struct sxs_heap_wanted_list *list, bool object, const char *text, char *why,
                        size_t why_size)
{
    struct sxs_heap_wanted w = {.text = text};
    const char            *dot = strrchr(text, '.');
    char                  *end = NULL;
    if (list->n == SXS_HEAP_ASK_LINES) {
        snprintf(why, why_size, "--object, --static: at most %u of them", SXS_HEAP_ASK_LINES);
        return -1;
    }
    errno = 0;
    if (object)
        w.address = strtoull(text, &end, 16);
    if (object && (errno || *end || !w.address || !isxdigit((unsigned char)*text))) {
        snprintf(why, why_size,
                 "--object: '%s': expected a hexadecimal address; --type TYPE prints some", text);
        return -1;
    }
    if (!object && (!dot || dot == text || !dot[1] || strchr(text, '\n') ||
                    strlen(text) >= SXS_HEAP_ASK_TEXT)) {
        snprintf(why, why_size, "--static: '%s': expected TYPE.FIELD", text);
        return -1;
    }
    list->all[list->n++] = w;
    return 0;
}

char *sxs_heap_wanted_request(const struct sxs_heap_wanted_list *list, uint32_t runtime)
{
    char  *text = NULL;
    size_t size;
    FILE  *to = list->n ? open_memstream(&text, &size) : NULL;
    if (!to)
        return NULL;
    fputs(SXS_HEAP_ASK_FIRST "\n", to);
    for (size_t i = 0; i < list->n; i++) {
        const struct sxs_heap_wanted *w = &list->all[i];
        if (w->address)
            fprintf(to, "object %u %llx\n", runtime, (unsigned long long)w->address);
        else
            fprintf(to, "static %u %s\n", runtime, w->text);
    }
    fclose(to);
    return text;
}

int sxs_heap_write_wanted(FILE *to, const struct sxs_heap_wanted_list *list, int folder_fd,
                          uint32_t number, uint32_t runtime, bool json)
{
    struct sxs_heap_values v;
    char                   why[256];
    int                    status = SXS_EXIT_OK;
    if (sxs_heap_values_load(folder_fd, number, runtime, list->all, list->n, &v, why,
                             sizeof(why)) != 0) {
        sxs_complain(SXS_HEAP_FILE "%u: %s", number, why);
        return SXS_EXIT_PROBLEM;
    }
    for (size_t i = 0; i < list->n; i++) {
        int missing = sxs_heap_values_complain(&v, folder_fd, number, runtime, &list->all[i]);
        status = missing > status ? missing : status;
    }
    if (json)
        sxs_heap_write_values_json(to, &v);
    else
        sxs_heap_write_values(to, &v);
    sxs_heap_values_free(&v);
    return status;
}
