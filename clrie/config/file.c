/* SPDX-License-Identifier: MIT */
/* file.c - read a configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clrie/config/config.h"
#include "clrie/config/nodes.h"
#include "clrie/config/report.h"
#include "manager/guid.h"

struct plugin_file_reading {
    struct clrie_plugin_list *list;
    const char               *path;
};

static void free_declaration(struct clrie_plugin_declaration *d)
{
    free(d->name);
    free(d->description);
    free(d->path);
    free(d->config);
    memset(d, 0, sizeof(*d));
}

/* ---- one plug-in ------------------------------------------------------------------------------ */

/* The texts of the elements in <InstrumentationMethod>. NULL: no such element. */
enum { NAME, DESCRIPTION, MODULE, CLASS_GUID, PRIORITY, N_PARTS };

static const char *const parts[N_PARTS] = {"Name", "Description", "Module", "ClassGuid",
                                           "Priority"};

/* Collects the texts; of elements with the same name the last one with a text counts. Returns 0, or
 * -1 after an error. */
static int read_parts(struct config_reader *r, const xmlNode *node, char *text[N_PARTS])
{
    for (const xmlNode *c = clrie_node_child(node); c; c = clrie_node_next(c)) {
        int i = 0;
        while (i < N_PARTS && !clrie_node_is(c, parts[i]))
            i++;
        if (i == N_PARTS) {
            clrie_node_unknown(r, c, "<Name>, <Description>, <Module>, <ClassGuid> or <Priority>");
            return -1;
        }
        if (!c->children)
            continue;
        free(text[i]);
        text[i] = clrie_node_text(r, c);
        if (!text[i])
            return -1;
    }
    return 0;
}

/* Reads a number as CLRIE does: what follows the digits is ignored, without digits it is 0, and only the
 * low 32 bits count, so that a negative number becomes a large one. */
static int read_priority(struct config_reader *r, const xmlNode *node, const char *text,
                         uint32_t *out)
{
    long long n;
    errno = 0;
    n = strtoll(text, NULL, 10);
    if (errno == ERANGE) {
        config_wrong(r, node, NULL, "a number from 0 to 4294967295", "<Priority>%.40s", text);
        return -1;
    }
    *out = (uint32_t)n;
    return 0;
}

static int check_parts(struct config_reader *r, const xmlNode *node, char *const text[N_PARTS],
                       struct clrie_plugin_declaration *d)
{
    for (int i = 0; i < PRIORITY; i++)
        if (!text[i] || !*text[i]) {
            config_wrong(r, node, NULL, "a text in it", "no <%s>, or an empty one", parts[i]);
            return -1;
        }
    if (!sxs_guid_parse(text[CLASS_GUID], &d->clsid)) {
        config_wrong(r, node, NULL,
                     "a class ID in braces, as in {D2959618-F9B6-4CB6-80CF-F3B0E3263888}",
                     "<ClassGuid>%.60s", text[CLASS_GUID]);
        return -1;
    }
    d->priority = UINT32_MAX;
    return text[PRIORITY] ? read_priority(r, node, text[PRIORITY], &d->priority) : 0;
}

/* Returns the library's path: Module is appended to the folder of the file, even an absolute one.
 * Owned; NULL without memory. */
static char *library_path(const char *config, const char *module)
{
    const char *slash = strrchr(config, '/');
    size_t      folder = slash ? (size_t)(slash - config) + 1 : 0;
    size_t      size = strlen(module) + 1;
    char       *path = malloc(folder + size);
    if (!path)
        return NULL;
    memcpy(path, config, folder);
    memcpy(path + folder, module, size);
    return path;
}

static int is_known(const struct clrie_plugin_list *list, const GUID *clsid)
{
    for (size_t i = 0; i < list->n; i++)
        if (sxs_guid_equal(&list->items[i].clsid, clsid))
            return 1;
    return 0;
}

/* Appends the declaration, which the list takes over. Returns 0, or -1 without memory. */
static int append_declaration(struct clrie_plugin_list *list, struct clrie_plugin_declaration *d)
{
    void *items = realloc(list->items, (list->n + 1) * sizeof(*list->items));
    if (!items)
        return -1;
    list->items = items;
    d->is_duplicate = is_known(list, &d->clsid);
    list->items[list->n++] = *d;
    memset(d, 0, sizeof(*d));
    return 0;
}

/* Returns 0, or -1 after an error, which ends the reading of the file. */
static int read_plugin(struct config_reader *r, const xmlNode *node,
                       struct plugin_file_reading *reading)
{
    struct clrie_plugin_declaration d = {.name = NULL};
    char                           *text[N_PARTS] = {NULL};
    uint32_t                        column;
    int err = read_parts(r, node, text) != 0 || check_parts(r, node, text, &d) != 0;
    if (!err) {
        d.config = strdup(reading->path);
        d.path = library_path(reading->path, text[MODULE]);
        d.name = text[NAME];
        d.description = text[DESCRIPTION];
        text[NAME] = text[DESCRIPTION] = NULL;
        config_place(&r->source, config_offset(r, node), &d.line, &column);
        if (!d.config || !d.path || append_declaration(reading->list, &d) != 0)
            r->whole->failed = err = 1;
    }
    free_declaration(&d);
    for (int i = 0; i < N_PARTS; i++)
        free(text[i]);
    return err ? -1 : 0;
}

/* ---- the file --------------------------------------------------------------------------------- */

static void read_document(struct config_reader *r, xmlDocPtr doc, void *arg)
{
    const xmlNode *root = clrie_check_root(r, doc);
    for (const xmlNode *c = root ? clrie_node_child(root) : NULL; c; c = clrie_node_next(c)) {
        if (!clrie_node_is(c, "InstrumentationMethod") &&
            !clrie_node_is(c, "InstrumentationMethod64")) {
            clrie_node_unknown(r, c, "<InstrumentationMethod> or <InstrumentationMethod64>");
            return;
        }
        if (read_plugin(r, c, arg) != 0)
            return;
    }
}

int clrie_config_read_file(struct clrie_plugin_list *list, const char *path,
                           clrie_config_report *report, void *arg)
{
    struct plugin_file_reading reading = {list, path};
    return clrie_report_problems(config_load_as(path, read_document, &reading), report, arg);
}

int clrie_config_parse(struct clrie_plugin_list *list, const char *path, const char *bytes,
                       size_t size, clrie_config_report *report, void *arg)
{
    struct plugin_file_reading reading = {list, path};
    return clrie_report_problems(config_load_bytes_as(path, bytes, size, read_document, &reading),
                                 report, arg);
}

void clrie_config_free(struct clrie_plugin_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free_declaration(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof(*list));
}
