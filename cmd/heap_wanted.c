/* SPDX-License-Identifier: MIT */
#include "cmd/heap_wanted.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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

/* ---- what has no value ---- */

/* Says which objects of a runtime are near an address without one. */
static void complain_of_graph(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                              uint64_t address)
{
    uint32_t    inside = sxs_heap_find(g, address, true), low = 0, high = g->n;
    const char *version = sxs_strings_text(&s->strings, g->version);
    if (inside != SXS_NO_OBJECT) {
        sxs_complain("runtime %u (%s): 0x%" PRIx64 " is inside of the %s at 0x%" PRIx64, g->runtime,
                     version, address, sxs_heap_type_name(s, g, g->type[inside]),
                     g->address[inside]);
        return;
    }
    while (low < high) { /* the first object after it */
        uint32_t middle = low + (high - low) / 2;
        if (g->address[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && (low == g->n || address - g->address[low - 1] < g->address[low] - address))
        low--;
    if (low < g->n)
        sxs_complain("runtime %u (%s): the nearest object is the %s at 0x%" PRIx64, g->runtime,
                     version, sxs_heap_type_name(s, g, g->type[low]), g->address[low]);
}

static int complain_of_object(int folder_fd, uint32_t number, uint32_t runtime, uint64_t address)
{
    struct sxs_heap_snapshot s;
    char                     why[256];
    sxs_complain("--object: no object begins at 0x%" PRIx64 "; collections move objects, and "
                 "sxsprof heap --type TYPE prints addresses of the newest snapshot",
                 address);
    if (sxs_heap_load(folder_fd, number, runtime, &s, why, sizeof(why)) != 0)
        return SXS_EXIT_USAGE;
    for (size_t i = 0; i < s.n; i++)
        complain_of_graph(&s, &s.graphs[i], address);
    sxs_heap_free(&s);
    return SXS_EXIT_USAGE;
}

/* Prints why what is wanted has no value in any runtime, and which names or objects are near. Returns
 * an exit status: SXS_EXIT_OK if it has a value. */
static int complain(const struct sxs_heap_values *v, int folder_fd, uint32_t number,
                    uint32_t runtime, const struct sxs_heap_wanted *wanted)
{
    size_t answers = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (v->all[i].depth || !sxs_heap_values_answer(v, &v->all[i], wanted))
            continue;
        answers++;
        if (v->all[i].what != SXS_HEAP_VALUE_UNKNOWN)
            return SXS_EXIT_OK;
    }
    if (!answers)
        return sxs_wrong_input("%s: it was not read for heap snapshot %u; ask the running process: "
                               "sxsprof heap --%s %s PID",
                               wanted->text, number, wanted->address ? "object" : "static",
                               wanted->text);
    if (wanted->address)
        return complain_of_object(folder_fd, number, runtime, wanted->address);
    for (size_t i = 0; i < v->n; i++)
        if (v->all[i].depth == 0 && sxs_heap_values_answer(v, &v->all[i], wanted))
            sxs_complain("--static: %s (runtime %u, %s)", sxs_heap_values_text(v, v->all[i].value),
                         v->all[i].runtime, sxs_heap_values_version(v, v->all[i].runtime));
    return SXS_EXIT_USAGE;
}

/* ---- values ---- */

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
        int missing = complain(&v, folder_fd, number, runtime, &list->all[i]);
        status = missing > status ? missing : status;
    }
    if (json)
        sxs_heap_write_values_json(to, &v);
    else
        sxs_heap_write_values(to, &v);
    sxs_heap_values_free(&v);
    return status;
}
