/* SPDX-License-Identifier: MIT */
/*
 * instr/config/schema.c - validate a file against the schema with libxml2, and report errors in a
 * readable form.
 *
 * libxml2 reports the element, and names the attribute in the text of its message. The tables below
 * have the text that says what is expected there.
 */
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"
#include "base/base.h"

#include "config_schema.h"

/* ---- what is expected ------------------------------------------------------------------------ */

static const struct {
    const char *element, *attributes;
} known[] = {
    {"instrumentation", "no attributes"},
    {"rule", "name, priority or enabled"},
    {"match",
     "runtime, assembly, minVersion, maxVersion, type, method, parameters, attribute or async"},
    {"exclude",
     "runtime, assembly, minVersion, maxVersion, type, method, parameters, attribute or async"},
    {"count", "label"},
    {"time", "label"},
    {"trace", "label, arguments, result or exception"},
    {"call", "when, on, library, symbol, transition, assembly, type, method, arguments, result or "
             "exception"},
    {"wrap", "library, transition, assembly, type, before, after, arguments, result or exception"},
    {"replace", "value, library, symbol, transition, assembly, type, method or arguments"},
    {"inject", "at, offset or instruction"},
};

static const struct {
    const char *attribute, *expected;
} values[] = {
    {"priority", "a whole number"},
    {"enabled", "true or false"},
    {"result", "true or false"},
    {"exception", "true or false"},
    {"transition", "true or false"},
    {"runtime", "versions or their beginnings, separated by blanks, such as \"8 10.0.11\""},
    {"minVersion", "one to four numbers separated by dots, such as 1.2"},
    {"maxVersion", "one to four numbers separated by dots, such as 1.2"},
    {"async", "outer or statemachine"},
    {"when", "before or after"},
    {"on", "end, result or exception"},
    {"at", "entry, exit, before or after"},
    {"offset", "an offset into the method's IL, such as IL_001a, 0x1a or 26"},
};

static const char *attributes_of(const char *element)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!strcmp(known[i].element, element))
            return known[i].attributes;
    return NULL;
}

static const char *values_of(const char *attribute)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (!strcmp(values[i].attribute, attribute))
            return values[i].expected;
    return "a text that is not empty";
}

const struct config_schema config_instrumentation = {config_schema, sizeof(config_schema),
                                                     attributes_of, values_of};

/* ---- messages of libxml2 --------------------------------------------------------------------- */

struct validation {
    struct config_reader       *r;
    const struct config_schema *schema;
    const xmlNode              *node;          /* of the last error */
    char                        attribute[64]; /* of the last error; empty: none */
};

/* Finds NAME in a message such as "... attribute 'NAME' ...". */
static void attribute_of(const char *message, char name[64])
{
    const char *at = strstr(message, "attribute '");
    size_t      len;
    name[0] = 0;
    if (!at)
        return;
    at += strlen("attribute '");
    len = strcspn(at, "'");
    if (*at == '{' && memchr(at, '}', len)) { /* without its namespace */
        const char *behind = strchr(at, '}') + 1;
        len -= (size_t)(behind - at);
        at = behind;
    }
    if (len > 63)
        len = 63;
    memcpy(name, at, len);
    name[len] = 0;
}

/* Returns "a, b" for a message with "Expected is one of ( {ns}a, {ns}b )."; NULL: other
 * messages. */
static const char *expected_elements(struct config_reader *r, const char *message)
{
    const char *from = strstr(message, "Expected is");
    char       *text, *to;
    if (!from || !(from = strchr(from, '(')))
        return NULL;
    text = to = config_strdup(&r->whole->arena, from + 1 + strspn(from + 1, " "));
    if (!text)
        return NULL;
    for (const char *s = text; *s && *s != ')' && *s != '\n'; s++) {
        if (*s == '{')
            while (s[1] && *s != '}')
                s++;
        else
            *to++ = *s;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
    return text;
}

/* Returns the first line of the message, without namespaces and the full stop. */
static const char *tidy(struct config_reader *r, const char *message)
{
    char *text = config_strdup(&r->whole->arena, message), *to = text;
    if (!text)
        return "";
    for (const char *s = text; *s && *s != '\n'; s++) {
        if (*s == '{' && strncmp(s, "{urn:", 5) == 0)
            while (s[1] && *s != '}')
                s++;
        else
            *to++ = *s;
    }
    if (to > text && to[-1] == '.')
        to--;
    *to = 0;
    return text;
}

static void tell_attribute(const struct validation *v, int code, const xmlNode *node,
                           const char *attribute)
{
    struct config_reader       *r = v->r;
    const struct config_schema *schema = v->schema;
    const char *element = (const char *)node->name;
    const char *value = config_get(r, node, attribute);
    if (code == XML_SCHEMAV_CVC_COMPLEX_TYPE_4)
        config_wrong(r, node, NULL, schema->values_of(attribute), "<%s> without %s=", element, attribute);
    else if (code == XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_1 ||
             code == XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_2)
        config_wrong(r, node, attribute, schema->attributes_of(element), "<%s> knows no %s=", element,
                     attribute);
    else
        config_wrong(r, node, attribute, schema->values_of(attribute), "%s=\"%s\"", attribute,
                     value ? value : "");
}

static void schema_errs(void *context, xmlErrorPtr error)
{
    struct validation *v = context;
    const xmlNode     *node = error->node;
    const char        *message = error->message ? error->message : "";
    const char        *expected;
    char               attribute[64];
    if (node && node->type == XML_ATTRIBUTE_NODE)
        node = node->parent;
    if (!node || node->type != XML_ELEMENT_NODE) {
        config_wrong_at(v->r, 0, NULL, "%s", tidy(v->r, message));
        return;
    }
    attribute_of(message, attribute);
    if (node == v->node && !strcmp(attribute, v->attribute))
        return; /* another message about the same error */
    v->node = node;
    strcpy(v->attribute, attribute);
    expected = expected_elements(v->r, message);
    if (attribute[0])
        tell_attribute(v, error->code, node, attribute);
    else if (error->code != XML_SCHEMAV_ELEMENT_CONTENT)
        config_wrong(v->r, node, NULL, expected, "%s", tidy(v->r, message));
    else if (strstr(message, "Missing child"))
        config_wrong(v->r, node, NULL, expected, "<%s> lacks something", (const char *)node->name);
    else
        config_wrong(v->r, node, NULL, expected, "<%s> does not belong here",
                     (const char *)node->name);
}

/* ---- validation ------------------------------------------------------------------------------ */

/* Removes the attributes of schema instances. Those with the location of a schema are ignored;
 * others, such as xsi:type, are errors. */
static void drop_instance_attributes(struct config_reader *r, const struct config_schema *schema,
                                     xmlNode *node)
{
    for (xmlAttr *a = node->properties, *next; a; a = next) {
        next = a->next;
        if (!a->ns ||
            strcmp((const char *)a->ns->href, "http://www.w3.org/2001/XMLSchema-instance") != 0)
            continue;
        if (!strstr((const char *)a->name, "chemaLocation"))
            config_wrong(r, node, NULL, schema->attributes_of((const char *)node->name),
                         "<%s> knows no %s= of schema instances", (const char *)node->name,
                         (const char *)a->name);
        xmlRemoveProp(a);
    }
    for (xmlNode *c = node->children; c; c = c->next) /* config_guard() limited the depth */
        if (c->type == XML_ELEMENT_NODE)
            drop_instance_attributes(r, schema, c);
}

/* Are all built-in types of schemas there? Without memory for a type, libxml2 goes on without
 * it. */
static int has_types(void)
{
    xmlSchemaInitTypes();
    for (int type = XML_SCHEMAS_STRING; type <= XML_SCHEMAS_ANYSIMPLETYPE; type++)
        if (!xmlSchemaGetBuiltInType((xmlSchemaValType)type)) {
            xmlSchemaCleanupTypes(); /* so that the next call makes all types again */
            return 0;
        }
    return 1;
}

static xmlSchemaPtr compile_schema(struct validation *v)
{
    xmlSchemaParserCtxtPtr ctxt =
        has_types() ? xmlSchemaNewMemParserCtxt(v->schema->bytes, (int)v->schema->size) : NULL;
    xmlSchemaPtr schema;
    if (!ctxt)
        return NULL;
    xmlSchemaSetParserStructuredErrors(ctxt, schema_errs, v);
    schema = xmlSchemaParse(ctxt);
    xmlSchemaFreeParserCtxt(ctxt);
    return schema;
}

int config_validate(struct config_reader *r, xmlDocPtr doc, const struct config_schema *wanted)
{
    struct validation     v = {.r = r, .schema = wanted};
    xmlSchemaPtr          schema = compile_schema(&v);
    xmlSchemaValidCtxtPtr ctxt = schema ? xmlSchemaNewValidCtxt(schema) : NULL;
    int                   found = -1;
    drop_instance_attributes(r, wanted, xmlDocGetRootElement(doc));
    if (ctxt) {
        xmlSchemaSetValidStructuredErrors(ctxt, schema_errs, &v);
        found = xmlSchemaValidateDoc(ctxt, doc);
        xmlSchemaFreeValidCtxt(ctxt);
    } else {
        r->whole->failed = 1;
    }
    if (schema)
        xmlSchemaFree(schema);
    if (found && !r->n_errors)
        config_wrong_at(r, 0, NULL, "the schema does not allow it");
    return found || r->n_errors;
}
