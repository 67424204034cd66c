/* SPDX-License-Identifier: MIT */
#include "clrie/config/attach.h"

#include <stdlib.h>
#include <string.h>

#include "clrie/config/nodes.h"
#include "clrie/config/report.h"

/* Settings while they are read. */
struct settings {
    struct clrie_attach_setting *items; /* owned */
    size_t                       n;
};

static void free_settings(struct settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].name);
        free(s->items[i].value);
    }
    free(s->items);
    memset(s, 0, sizeof(*s));
}

static int has_setting(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return 1;
    return 0;
}

/* Appends a setting, unless the name is there already. Takes over both texts. */
static void append_setting(struct config_reader *r, struct settings *s, char *name, char *value)
{
    struct clrie_attach_setting *items = NULL;
    if (!has_setting(s, name)) {
        items = realloc(s->items, (s->n + 1) * sizeof(*items));
        r->whole->failed |= !items;
    }
    if (items) {
        s->items = items;
        items[s->n++] = (struct clrie_attach_setting){name, value};
    } else {
        free(name);
        free(value);
    }
}

/* Reads <Settings>. Returns 0, or -1 after an error. */
static int read_settings(struct config_reader *r, const xmlNode *node, struct settings *s)
{
    for (const xmlNode *c = clrie_node_child(node); c; c = clrie_node_next(c)) {
        char *name, *value;
        if (!clrie_node_is(c, "Setting")) {
            clrie_node_unknown(r, c, "<Setting Name=\"...\" Value=\"...\"/>");
            return -1;
        }
        name = clrie_node_attribute(r, c, "Name");
        value = clrie_node_attribute(r, c, "Value");
        if (!name || !value || !*name || !*value) {
            if (name && value)
                config_wrong(r, c, *name ? "Value" : "Name", "a text that is not empty",
                             "no %s, or an empty one", *name ? "Value" : "Name");
            free(name);
            free(value);
            return -1;
        }
        append_setting(r, s, name, value);
    }
    return 0;
}

/* ---- <InstrumentationEngine> ------------------------------------------------------------------ */

/* Sets one text of the engine. Takes over @value. */
static void set_text(char **text, char **value)
{
    free(*text);
    *text = *value;
    *value = NULL;
}

/* Only the first node in the element is looked at. */
static int read_engine(struct config_reader *r, const xmlNode *node, struct clrie_attach *out)
{
    const xmlNode  *first = clrie_node_child(node);
    struct settings s = {NULL, 0};
    int             err = 0;
    if (!clrie_node_is(first, "Settings"))
        return 0;
    err = read_settings(r, first, &s);
    for (size_t i = 0; !err && i < s.n; i++) {
        if (strcmp(s.items[i].name, "LogLevel") == 0)
            set_text(&out->log_level, &s.items[i].value);
        else if (strcmp(s.items[i].name, "LogFileLevel") == 0)
            set_text(&out->log_file_level, &s.items[i].value);
        else if (strcmp(s.items[i].name, "LogFilePath") == 0)
            set_text(&out->log_file_path, &s.items[i].value);
    }
    free_settings(&s);
    return err;
}

/* ---- <InstrumentationMethods> ----------------------------------------------------------------- */

/* Appends a source. Takes over @path and the settings, also on failure. Returns 0, or -1. */
static int append_source(struct config_reader *r, struct clrie_attach *out, char *path,
                         struct settings *s)
{
    struct clrie_attach_source *sources =
        realloc(out->sources, (out->n_sources + 1) * sizeof(*sources));
    if (!sources) {
        r->whole->failed = 1;
        free(path);
        free_settings(s);
        return -1;
    }
    out->sources = sources;
    sources[out->n_sources++] = (struct clrie_attach_source){path, s->items, s->n};
    return 0;
}

static int read_source(struct config_reader *r, const xmlNode *node, struct clrie_attach *out)
{
    struct settings s = {NULL, 0};
    char           *path = clrie_node_attribute(r, node, "ConfigPath");
    int             err = 0;
    if (!path || !*path) {
        if (path)
            config_wrong(r, node, "ConfigPath", "the path of a configuration file",
                         "no ConfigPath, or an empty one");
        free(path);
        return -1;
    }
    for (const xmlNode *c = clrie_node_child(node); c && !err; c = clrie_node_next(c))
        if (clrie_node_is(c, "Settings"))
            err = read_settings(r, c, &s);
    if (!err)
        return append_source(r, out, path, &s);
    free(path);
    free_settings(&s);
    return -1;
}

static int read_sources(struct config_reader *r, const xmlNode *node, struct clrie_attach *out)
{
    int err = 0;
    for (const xmlNode *c = clrie_node_child(node); c && !err; c = clrie_node_next(c))
        if (clrie_node_is(c, "AddInstrumentationMethod"))
            err = read_source(r, c, out);
    return err;
}

/* ---- all -------------------------------------------------------------------------------------- */

static void read_document(struct config_reader *r, xmlDocPtr doc, void *arg)
{
    const xmlNode *root = clrie_check_root(r, doc);
    int            err = 0;
    for (const xmlNode *c = root ? clrie_node_child(root) : NULL; c && !err;
         c = clrie_node_next(c)) {
        if (clrie_node_is(c, "InstrumentationEngine"))
            err = read_engine(r, c, arg);
        else if (clrie_node_is(c, "InstrumentationMethods"))
            err = read_sources(r, c, arg);
    }
}

int clrie_attach_parse(const void *data, size_t size, struct clrie_attach *out,
                       clrie_config_report *report, void *arg)
{
    memset(out, 0, sizeof(*out));
    size = strnlen(data, size); /* the sender may have counted the terminating zero */
    return clrie_report_problems(
        config_load_bytes_as("data of the attach", data, size, read_document, out), report, arg);
}

void clrie_attach_free(struct clrie_attach *attach)
{
    free(attach->log_level);
    free(attach->log_file_level);
    free(attach->log_file_path);
    for (size_t i = 0; i < attach->n_sources; i++) {
        struct settings s = {attach->sources[i].settings, attach->sources[i].n_settings};
        free(attach->sources[i].path);
        free_settings(&s);
    }
    free(attach->sources);
    memset(attach, 0, sizeof(*attach));
}
