/* SPDX-License-Identifier: MIT */
#include "clrie/config/nodes.h"

#include <stdlib.h>
#include <string.h>

static int is_blank(const xmlNode *node)
{
    const char *text = (const char *)node->content;
    return node->type == XML_TEXT_NODE && (!text || !text[strspn(text, " \t\r\n")]);
}

static const xmlNode *without_blanks(const xmlNode *node)
{
    while (node && is_blank(node))
        node = node->next;
    return node;
}

const xmlNode *clrie_node_child(const xmlNode *node)
{
    return without_blanks(node->children);
}

const xmlNode *clrie_node_next(const xmlNode *node)
{
    return without_blanks(node->next);
}

int clrie_node_is(const xmlNode *node, const char *name)
{
    return node && node->type == XML_ELEMENT_NODE && config_is(node, name);
}

/* Returns the offset in the file of the line where the node is. */
static size_t line_offset(const struct config_reader *r, const xmlNode *node)
{
    size_t at = 0;
    for (unsigned line = 1; line < node->line; line++) {
        const char *end = memchr(r->source.bytes + at, '\n', r->source.size - at);
        if (!end)
            break;
        at = (size_t)(end - r->source.bytes) + 1;
    }
    return at;
}

/* The parser stores offsets of elements only, and text has the line of its end. */
static size_t offset_of(const struct config_reader *r, const xmlNode *node)
{
    if (node->type == XML_ELEMENT_NODE)
        return config_offset(r, node);
    if (node->type == XML_COMMENT_NODE || node->type == XML_PI_NODE)
        return line_offset(r, node);
    return node->parent ? config_offset(r, node->parent) : 0;
}

void clrie_node_unknown(struct config_reader *r, const xmlNode *node, const char *expected)
{
    size_t at = offset_of(r, node);
    if (node->type == XML_ELEMENT_NODE)
        config_wrong_at(r, at, expected, "<%s>", (const char *)node->name);
    else if (node->type == XML_COMMENT_NODE)
        config_wrong_at(r, at, expected, "a comment");
    else
        config_wrong_at(r, at, expected, "text outside of an element");
}

/* Returns a copy in memory of malloc(). */
static char *copy(struct config_reader *r, const char *text)
{
    char *out = strdup(text ? text : "");
    if (!out)
        r->whole->failed = 1;
    return out;
}

char *clrie_node_text(struct config_reader *r, const xmlNode *node)
{
    const xmlNode *first = node->children;
    int has_text = first && first->type != XML_ELEMENT_NODE && first->type != XML_ENTITY_REF_NODE;
    return copy(r, has_text ? (const char *)first->content : NULL);
}

char *clrie_node_attribute(struct config_reader *r, const xmlNode *node, const char *name)
{
    const xmlAttr *a = node->properties;
    xmlChar       *value;
    char          *out;
    while (a && strcmp((const char *)a->name, name) != 0)
        a = a->next;
    if (!a || !a->children)
        return copy(r, NULL);
    value = xmlNodeListGetString(node->doc, a->children, 1);
    if (!value) {
        r->whole->failed = 1;
        return NULL;
    }
    out = copy(r, (const char *)value);
    xmlFree(value);
    return out;
}

const xmlNode *clrie_check_root(struct config_reader *r, xmlDocPtr doc)
{
    const xmlNode *root = xmlDocGetRootElement(doc);
    if (clrie_node_is(root, CLRIE_ROOT))
        return root;
    if (root)
        clrie_node_unknown(r, root, "<" CLRIE_ROOT ">");
    else
        config_wrong_at(r, 0, "<" CLRIE_ROOT ">", "no element");
    return NULL;
}
