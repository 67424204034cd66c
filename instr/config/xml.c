/* SPDX-License-Identifier: MIT */
/*
 * instr/config/xml.c - parse a file with libxml2 into a tree that also has the offset in the file
 * of each element.
 *
 * The host may use libxml2 as well. Therefore no global state of libxml2 is changed: all handlers
 * are set in the parser context.
 */
#include <string.h>

#include "base/c_locale.h"
#include "base/text/utf8.h"
#include "instr/config/libxml.h"
#include "instr/config/reader.h"

/* ---- parsing --------------------------------------------------------------------------------- */

struct parse {
    startElementNsSAX2Func start; /* libxml2's handler, which builds the tree */
    struct config_reader  *r;
    int                    reported; /* nonzero: an error was reported */
};

static size_t bytes_consumed(xmlParserCtxtPtr ctxt)
{
    return ctxt->input ? (size_t)(ctxt->input->cur - ctxt->input->base) + ctxt->input->consumed : 0;
}

/* Stores the offset of an element. The parser calls this function after the last attribute. A tag
 * contains no other `<`, so the last `<` before that place is where the tag begins. */
static void element_starts(void *ctx, const xmlChar *name, const xmlChar *prefix,
                           const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                           int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    xmlParserCtxtPtr ctxt = ctx;
    struct parse    *p = ctxt->_private;
    size_t           at = bytes_consumed(ctxt);
    p->start(ctx, name, prefix, uri, n_namespaces, namespaces, n_attributes, n_defaulted,
             attributes);
    if (at > p->r->source.size)
        at = p->r->source.size;
    while (at && p->r->source.bytes[at - 1] != '<')
        at--;
    if (ctxt->node && at)
        ctxt->node->_private = (void *)(uintptr_t)at; /* offset of the byte after `<`, not 0 */
}

/* Refuses a document type, in case config_guard() did not see it. */
static void doctype_starts(void *ctx, const xmlChar *name, const xmlChar *id, const xmlChar *system)
{
    xmlParserCtxtPtr ctxt = ctx;
    struct parse    *p = ctxt->_private;
    (void)name;
    (void)id;
    (void)system;
    if (!p->reported++)
        config_wrong_at(p->r, bytes_consumed(ctxt), NULL, "a document type");
    xmlStopParser(ctxt);
}

static void put_line(char *to, size_t size, const char *message)
{
    size_t len = strcspn(message, "\n");
    if (len >= size)
        len = size - 1;
    memcpy(to, message, len);
    to[len] = 0;
}

/* Reports the first error only; those after it are its consequences. */
static void parser_errs(void *ctx, xmlErrorPtr error)
{
    xmlParserCtxtPtr ctxt = error->ctxt ? error->ctxt : ctx;
    struct parse    *p = ctxt->_private;
    char             what[200];
    if (error->level < XML_ERR_ERROR || p->reported++)
        return;
    put_line(what, sizeof(what), error->message ? error->message : "");
    config_wrong_at(p->r, bytes_consumed(ctxt), "well-formed XML", "%s", what);
}

static int has_namespace(const xmlNs *ns)
{
    return !ns || ns->href;
}

/* Do all elements and attributes have names and namespaces? Without memory for one, libxml2 2.9 may
 * go on without it and report no error. */
static int has_names(const xmlNode *node)
{
    for (; node; node = node->next) {
        if (node->type != XML_ELEMENT_NODE)
            continue;
        if (!node->name || !has_namespace(node->ns))
            return 0;
        for (const xmlAttr *a = node->properties; a; a = a->next)
            if (!a->name || !has_namespace(a->ns))
                return 0;
        if (!has_names(node->children)) /* config_guard() limited the depth */
            return 0;
    }
    return 1;
}

xmlDocPtr config_parse_xml(struct config_reader *r)
{
    const int        options = XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_COMPACT;
    xmlParserCtxtPtr ctxt = xmlNewParserCtxt();
    struct parse     p = {NULL, r, 0};
    xmlDocPtr        doc;
    if (!ctxt) {
        r->whole->failed = 1;
        return NULL;
    }
    p.start = ctxt->sax->startElementNs;
    ctxt->_private = &p;
    ctxt->sax->startElementNs = element_starts;
    ctxt->sax->internalSubset = doctype_starts;
    ctxt->sax->serror = parser_errs;
    doc = xmlCtxtReadMemory(ctxt, r->source.bytes, (int)r->source.size, NULL, NULL, options);
    if (ctxt->errNo == XML_ERR_NO_MEMORY || (doc && !has_names(xmlDocGetRootElement(doc)))) {
        r->whole->failed = 1;
        p.reported = 1;
    }
    xmlFreeParserCtxt(ctxt);
    if (!doc && !p.reported)
        config_wrong_at(r, 0, "an XML document", "nothing that can be read");
    if (doc && p.reported) {
        xmlFreeDoc(doc);
        doc = NULL;
    }
    if (doc && doc->encoding && !sxs_same_text((const char *)doc->encoding, "utf-8") &&
        !sxs_same_text((const char *)doc->encoding, "us-ascii")) {
        config_wrong_at(r, 0, "encoding=\"utf-8\"", "encoding=\"%s\"", (const char *)doc->encoding);
        xmlFreeDoc(doc);
        doc = NULL;
    }
    return doc;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const xmlNode *element_from(const xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

const xmlNode *config_child(const xmlNode *node)
{
    return element_from(node->children);
}

const xmlNode *config_sibling(const xmlNode *node)
{
    return element_from(node->next);
}

int config_is(const xmlNode *node, const char *name)
{
    return !strcmp((const char *)node->name, name);
}

size_t config_offset(const struct config_reader *r, const xmlNode *node)
{
    size_t behind = (size_t)(uintptr_t)node->_private;
    (void)r;
    return behind ? behind - 1 : 0;
}

/* Copies @value without blanks at its ends, and frees @value, which libxml2 allocated. */
static const char *take(struct config_reader *r, xmlChar *value)
{
    static const char blanks[] = " \t\r\n";
    const char       *s = (const char *)value, *copy;
    size_t            len;
    if (!s) {
        r->whole->failed = 1;
        return NULL;
    }
    s += strspn(s, blanks);
    len = strlen(s);
    while (len && strchr(blanks, s[len - 1]))
        len--;
    copy = config_strndup(&r->file->arena, s, len);
    xmlFree(value);
    return copy;
}

const char *config_get(struct config_reader *r, const xmlNode *node, const char *attribute)
{
    for (const xmlAttr *a = node->properties; a; a = a->next)
        if (!a->ns && !strcmp((const char *)a->name, attribute))
            return take(r, a->children ? xmlNodeListGetString(node->doc, a->children, 1)
                                       : xmlStrdup((const xmlChar *)""));
    return NULL;
}

int config_get_boolean(struct config_reader *r, const xmlNode *node, const char *attribute,
                       int otherwise)
{
    const char *value = config_get(r, node, attribute);
    return value ? !strcmp(value, "true") || !strcmp(value, "1") : otherwise;
}

const char *config_text(struct config_reader *r, const xmlNode *node)
{
    xmlChar    *text = xmlNodeGetContent(node);
    const char *copy = text ? config_strdup(&r->file->arena, (const char *)text) : NULL;
    if (!copy)
        r->whole->failed = 1;
    xmlFree(text);
    return copy;
}

/* ---- from text to bytes ---------------------------------------------------------------------- */

/* Returns the number of bytes of markup at @s; 0: text begins there. */
static size_t markup_length(const char *s, size_t left)
{
    static const char *const marks[][2] = {{"<!--", "-->"}, {"<?", "?>"}};
    const char              *end;
    if (left >= 9 && !memcmp(s, "<![CDATA[", 9))
        return 9;
    if (left >= 3 && !memcmp(s, "]]>", 3))
        return 3;
    for (int i = 0; i < 2; i++) {
        size_t begin = strlen(marks[i][0]), close = strlen(marks[i][1]);
        if (left < begin || memcmp(s, marks[i][0], begin) != 0)
            continue;
        end = memmem(s + begin, left - begin, marks[i][1], close);
        return end ? (size_t)(end - s) + close : left;
    }
    return s[0] == '\r' && left > 1 && s[1] == '\n';
}

/* Returns the number of bytes of text that an entity becomes. */
static size_t entity_size(const char *s, size_t len)
{
    unsigned long c;
    char          bytes[4];
    if (len < 3 || s[1] != '#')
        return 1;
    c = s[2] == 'x' ? strtoul(s + 3, NULL, 16) : strtoul(s + 2, NULL, 10);
    return sxs_utf8_put(bytes, (uint32_t)c);
}

size_t config_text_offset(const struct config_reader *r, const xmlNode *node, size_t at)
{
    const char *s = r->source.bytes;
    size_t      i = config_offset(r, node), size = r->source.size, text = 0, n;
    int         cdata = 0;
    for (char quote = 0; i < size && (quote || s[i] != '>'); i++)
        quote = quote ? (s[i] == quote ? 0 : quote) : s[i] == '"' || s[i] == '\'' ? s[i] : 0;
    for (i++; i < size; i += n) {
        size_t      left = size - i;
        const char *semicolon;
        n = cdata && s[i] == '<' ? 0 : markup_length(s + i, left);
        if (n == 9 && s[i] == '<')
            cdata = 1;
        if (n == 3)
            cdata = 0;
        if (n)
            continue;
        if (text >= at)
            break;
        semicolon = cdata || s[i] != '&' ? NULL : memchr(s + i, ';', left);
        n = semicolon ? (size_t)(semicolon - (s + i)) + 1 : 1;
        text += semicolon ? entity_size(s + i, n) : 1;
    }
    return i < size ? i : size;
}
