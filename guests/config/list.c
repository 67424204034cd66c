/* SPDX-License-Identifier: MIT */
#include "guests/config/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_path.h"
#include "guests/config/file.h"

struct guest_reading {
    struct guest_list *list;
    void (*problem)(void *arg, const char *line);
    void *arg;
};

/* Adds a declaration, which the list takes over. */
static void add_guest(struct guest_reading *r, struct guest_declaration *declared)
{
    char line[256];
    if (r->list->n < GUEST_MAX) {
        r->list->items[r->list->n++] = *declared;
        memset(declared, 0, sizeof(*declared));
        return;
    }
    snprintf(line, sizeof(line), "%.150s is one guest too many: expected at most %u",
             declared->path, GUEST_MAX);
    r->problem(r->arg, line);
}

static void add_file(struct guest_reading *r, const char *path)
{
    struct guest_file file;
    char              line[1024];
    if (sxs_code_path_refused(path, line, sizeof(line))) {
        r->problem(r->arg, line);
        return;
    }
    if (guest_file_read(path, &file) != 0) {
        r->problem(r->arg, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < file.problems->n_problems; i++) {
        sxs_config_put_problem(&file.problems->problems[i], line, sizeof(line));
        r->problem(r->arg, line);
    }
    for (unsigned i = 0; i < file.n; i++)
        add_guest(r, &file.guests[i]);
    guest_file_free(&file);
}

/* Returns the length of the item at @text: up to a ';' that has no backslash before it. */
static size_t item_length(const char *text)
{
    size_t n = 0;
    while (text[n] && text[n] != ';')
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n;
}

/* Returns @len characters of @text without the backslashes that make others plain; owned. */
static char *plain_text(const char *text, size_t len)
{
    char  *out = malloc(len + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < len; i++) {
        if (text[i] == '\\' && i + 1 < len)
            i++;
        out[n++] = text[i];
    }
    if (out)
        out[n] = '\0';
    return out;
}

static void add_item(struct guest_reading *r, const char *text, size_t len)
{
    struct guest_declaration declared;
    char                     why[256];
    char                    *plain;
    if (len == 0)
        return;
    if (*text == '{') {
        if (guest_declaration_parse(text, &declared, why, sizeof(why)) < 0)
            r->problem(r->arg, why);
        else
            add_guest(r, &declared);
        guest_declaration_free(&declared);
        return;
    }
    plain = plain_text(text, len);
    if (!plain)
        r->problem(r->arg, "out of memory");
    else if (strcmp(plain, "adopt") == 0)
        r->list->adopt = 1;
    else
        add_file(r, plain);
    free(plain);
}

void guest_list_read(struct guest_list *list, const char                *text,
                     void (*problem)(void *arg, const char *line), void *arg)
{
    struct guest_reading r = {list, problem, arg};
    while (*text) {
        size_t len = item_length(text);
        add_item(&r, text, len);
        text += len;
        text += *text == ';';
    }
}

void guest_list_free(struct guest_list *list)
{
    for (unsigned i = 0; i < list->n; i++)
        guest_declaration_free(&list->items[i]);
    memset(list, 0, sizeof(*list));
}
