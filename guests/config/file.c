/* SPDX-License-Identifier: MIT */
/* file.c - read an XML file that declares guests. */
#include "guests/config/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"

#include "guests_schema.h"

static const char *attributes_of(const char *element)
{
    return strcmp(element, "guests") == 0  ? "no attributes"
           : strcmp(element, "guest") == 0 ? "clsid, path, pick or priority"
           : strcmp(element, "env") == 0   ? "name or value"
                                           : NULL;
}

static const char *values_of(const char *attribute)
{
    return strcmp(attribute, "clsid") == 0
               ? "a class ID, as in {324F817A-7420-4E6D-B3C1-143FBED6D855}"
           : strcmp(attribute, "pick") == 0     ? "all, first or one:WHAT"
           : strcmp(attribute, "priority") == 0 ? "a whole number from -1000000 to 1000000"
           : strcmp(attribute, "name") == 0     ? "the name of a variable"
           : strcmp(attribute, "value") == 0    ? "the variable's value"
                                                : "a text that is not empty";
}

static const struct config_schema schema = {config_schema, sizeof(config_schema), attributes_of,
                                            values_of};

/* Sets one part of a guest, and reports a value that the schema allows but is wrong. */
static void set(struct config_reader *r, const xmlNode *node, const char *attribute,
                struct guest_declaration *d, const char *key, const char *value)
{
    char why[256];
    if (!r->whole->failed && guest_declaration_set(d, key, value, why, sizeof(why)) != 0)
        config_wrong(r, node, attribute, values_of(attribute), "%s=\"%s\"", attribute, value);
}

static void read_path(struct config_reader *r, const xmlNode *node, struct guest_declaration *d)
{
    const char *path = config_get(r, node, "path");
    if (path && *path != '/' && *r->folder)
        path = config_printf(&r->file->arena, "%s/%s", r->folder, path);
    if (path)
        set(r, node, "path", d, "path", path);
}

static void read_env(struct config_reader *r, const xmlNode *node, struct guest_declaration *d)
{
    const char *name = config_get(r, node, "name"), *value = config_get(r, node, "value");
    const char *both = name && value ? config_printf(&r->file->arena, "%s=%s", name, value) : NULL;
    if (both)
        set(r, node, "name", d, "env", both);
}

static void read_guest(struct config_reader *r, const xmlNode *node, struct guest_declaration *d)
{
    static const char *const plain[] = {"clsid", "pick", "priority"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        const char *value = config_get(r, node, plain[i]);
        if (value)
            set(r, node, plain[i], d, plain[i], value);
    }
    read_path(r, node, d);
    for (const xmlNode *c = config_child(node); c; c = config_sibling(c))
        read_env(r, c, d);
}

static void read_document(struct config_reader *r, xmlDocPtr doc, void *arg)
{
    struct guest_file *out = arg;
    const xmlNode     *root = xmlDocGetRootElement(doc);
    const char        *uri = root && root->ns ? (const char *)root->ns->href : "";
    const char        *name = root ? (const char *)root->name : "";
    out->is_ours = strcmp(uri, GUEST_FILE_NAMESPACE) == 0 && strcmp(name, "guests") == 0;
    if (!out->is_ours) {
        config_wrong_at(r, root ? config_offset(r, root) : 0,
                        "<guests xmlns=\"" GUEST_FILE_NAMESPACE "\">",
                        *uri ? "<%s xmlns=\"%s\">" : "<%s>", name, uri);
        return;
    }
    if (config_validate(r, doc, &schema))
        return;
    for (const xmlNode *c = config_child(root); c; c = config_sibling(c)) {
        uint32_t column;
        if (out->n == GUEST_MAX) {
            config_wrong(r, c, NULL, "at most 16 guests", "one more <guest>");
            return;
        }
        config_place(&r->source, config_offset(r, c), &out->line[out->n], &column);
        read_guest(r, c, &out->guests[out->n++]);
    }
}

static void drop_guests(struct guest_file *file)
{
    for (unsigned i = 0; i < file->n; i++)
        guest_declaration_free(&file->guests[i]);
    file->n = 0;
}

int guest_file_read(const char *path, struct guest_file *out)
{
    memset(out, 0, sizeof(*out));
    out->problems = config_load_as(path, read_document, out);
    if (!out->problems || out->problems->n_errors)
        drop_guests(out);
    return out->problems ? 0 : -1;
}

void guest_file_free(struct guest_file *file)
{
    drop_guests(file);
    sxs_config_free(file->problems);
    file->problems = NULL;
}
