/* SPDX-License-Identifier: MIT */
/** reader.h - from one file's bytes to rules: what the files that do so share. */
#ifndef SXS_CONFIG_READER_H
#define SXS_CONFIG_READER_H

#include "instr/config/config_internal.h"

#define CONFIG_NAMESPACE    "urn:sxsprof:instrumentation:1"
#define CONFIG_PROBLEMS_MAX 20u /* errors of one file, and warnings; more are not told */

struct _xmlNode;
struct _xmlDoc;

struct config_source {
    const char *bytes; /* not zero-terminated */
    size_t      size;
    /* the place last asked for; asking forwards is cheap */
    size_t   at;
    uint32_t line, column;
};

struct config_reader {
    struct config_whole *whole;  /* gets problems */
    struct config_file  *file;   /* gets rules */
    const char          *folder; /* of the file, absolute; "" when unknown */
    struct config_source source;
    uint32_t             n_errors, n_warnings;
};

/* ---- places and problems --------------------------------------------------------------------- */

/** Line and column of byte @at, both from 1; columns count characters, a byte order mark does
 *  not. */
void config_place(struct config_source *source, size_t at, uint32_t *line, uint32_t *column);

/** An error at byte @at. @expected NULL: nothing more to say. */
void config_wrong_at(struct config_reader *r, size_t at, const char *expected, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

/** An error at @node, or at its attribute of that name (NULL, or it is not there: at the node). */
void config_wrong(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                  const char *expected, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void config_warn(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                 const char *expected, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- steps, in this order; each says what is wrong, and returns nonzero ---------------------- */

/** Is it small, flat, UTF-8, and without a document type? What gets past can do libxml2 no harm. */
int config_guard(struct config_reader *r);

/** The tree. NULL: not well-formed, or no memory. xmlFreeDoc() ends it. */
struct _xmlDoc *config_parse_xml(struct config_reader *r);

/** Against the schema. */
int config_validate(struct config_reader *r, struct _xmlDoc *doc);

/** The rules of a file of our own, and of an extension file. */
void config_read_rules(struct config_reader *r, const struct _xmlNode *root);
void config_read_extension(struct config_reader *r, const struct _xmlNode *root);

/* ---- the tree -------------------------------------------------------------------------------- */

/** The first, and the following, child element. NULL: none. */
const struct _xmlNode *config_child(const struct _xmlNode *node);
const struct _xmlNode *config_sibling(const struct _xmlNode *node);

/** Is it the element of that name? */
int config_is(const struct _xmlNode *node, const char *name);

/** The attribute's value without blanks around it, in the file's arena. NULL: it is not there. */
const char *config_get(struct config_reader *r, const struct _xmlNode *node, const char *attribute);

/** Of a boolean attribute. @otherwise: it is not there. */
int config_get_boolean(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                       int otherwise);

/** Byte of the `<` of @node's start tag. */
size_t config_offset(const struct config_reader *r, const struct _xmlNode *node);

/** The text in @node, in the file's arena. NULL: no memory. */
const char *config_text(struct config_reader *r, const struct _xmlNode *node);

/** Byte of the file from which byte @at of config_text() came. */
size_t config_text_offset(const struct config_reader *r, const struct _xmlNode *node, size_t at);

/* ---- parts of rules -------------------------------------------------------------------------- */

enum config_name { CONFIG_ASSEMBLY, CONFIG_TYPE, CONFIG_METHOD, CONFIG_ATTRIBUTE };

/** The pattern in @attribute, checked. An absent one is any. */
struct sxs_pattern config_pattern(struct config_reader *r, const struct _xmlNode *node,
                                  const char *attribute, enum config_name kind);

/** A parameter list into @match. @wild: wildcards count. */
void config_parameters(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                       int wild, struct sxs_match *match);

/** The bounds of both kinds of files: minVersion, maxVersion. */
void config_bounds(struct config_reader *r, const struct _xmlNode *node, struct sxs_match *match);

/** The action of @node into @action. */
void config_read_action(struct config_reader *r, const struct _xmlNode *node,
                        struct sxs_action *action);

/** The IL of @node, checked, into @action. */
void config_read_il(struct config_reader *r, const struct _xmlNode *node,
                    struct sxs_action *action);

#endif
