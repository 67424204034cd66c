/* SPDX-License-Identifier: MIT */
/** instr/config/reader.h - turn the bytes of one file into rules: the steps, and the functions that
 *  they share. */
#ifndef SXS_INSTR_CONFIG_READER_H
#define SXS_INSTR_CONFIG_READER_H

#include "instr/config/config_internal.h"

#define CONFIG_NAMESPACE    "urn:sxsprof:instrumentation:1"
#define CONFIG_PROBLEMS_MAX 20u /* errors of a file that are reported; the same for warnings */

struct _xmlNode;
struct _xmlDoc;

struct config_source {
    const char *bytes; /* not zero-terminated */
    size_t      size;
    /* the place that config_place() returned last, from which it goes on to later places */
    size_t   at;
    uint32_t line, column;
};

struct config_reader;

/** A function that reads the document of a file of another kind, and reports what is wrong. Called
 *  while the lock of libxml2's types is held. */
typedef void config_read_document(struct config_reader *r, struct _xmlDoc *doc, void *arg);

struct config_reader {
    struct config_whole  *whole;  /* receives problems */
    struct config_file   *file;   /* receives rules */
    const char           *folder; /* absolute path of the file's folder; "" when unknown */
    struct config_source  source;
    uint32_t              n_errors, n_warnings;
    config_read_document *read; /* NULL: instrumentation files */
    void                 *read_arg;
};

/* ---- places and problems --------------------------------------------------------------------- */

/** config_place - find the line and the column of byte @at, both from 1. Columns count characters.
 *  A byte order mark is not counted. */
void config_place(struct config_source *source, size_t at, uint32_t *line, uint32_t *column);

/** config_wrong_at - report an error at byte @at; SIZE_MAX: of the file as a whole. @expected: what
 *  would be right, or NULL. */
void config_wrong_at(struct config_reader *r, size_t at, const char *expected, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

/** config_wrong, config_warn - report an error or a warning at the attribute called @attribute, or
 *  at @node when @attribute is NULL or @node does not have it. */
void config_wrong(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                  const char *expected, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void config_warn(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                 const char *expected, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- steps, in this order; each reports what is wrong ---------------------------------------- */

/** config_guard - refuse files that could harm libxml2: too large, nested too deeply, not UTF-8, or
 *  with a document type. Returns 0, or nonzero when the file is refused. */
int config_guard(struct config_reader *r);

/** config_parse_xml - parse the file into a tree, which xmlFreeDoc() frees. Returns NULL when the
 *  file is not well-formed, or without memory. */
struct _xmlDoc *config_parse_xml(struct config_reader *r);

/** A schema, and what messages say is expected. */
struct config_schema {
    const char *bytes; /* of the .xsd file; not zero-terminated */
    size_t      size;
    /* Returns the attributes that an element may have, as text; NULL: the element is not known. */
    const char *(*attributes_of)(const char *element);
    const char *(*values_of)(
        const char *attribute); /* Returns what an attribute may be, as text. */
};

/** The schema of instrumentation files. */
extern const struct config_schema config_instrumentation;

/** config_validate - check the tree against @schema. Returns 0, or nonzero after an error. */
int config_validate(struct config_reader *r, struct _xmlDoc *doc,
                    const struct config_schema *schema);

/**
 * config_load_as - load the file @path, as sxs_config_load() does, but @read reads its document.
 * Returns a config without rules, with what is wrong in `problems`; free it with sxs_config_free().
 * Returns NULL without memory.
 */
struct sxs_config *config_load_as(const char *path, config_read_document *read, void *arg);

/** config_load_bytes_as - the same with the @size bytes at @bytes instead of a file. @name stands for
 *  the path in messages. */
struct sxs_config *config_load_bytes_as(const char *name, const char *bytes, size_t size,
                                        config_read_document *read, void *arg);

/** config_read_rules, config_read_extension - read the rules of a file with this project's schema,
 *  or of New Relic's extension file. */
void config_read_rules(struct config_reader *r, const struct _xmlNode *root);
void config_read_extension(struct config_reader *r, const struct _xmlNode *root);

/* ---- the tree -------------------------------------------------------------------------------- */

/** config_child, config_sibling - return the first child element of @node, or the next element
 *  after @node; NULL: there is none. */
const struct _xmlNode *config_child(const struct _xmlNode *node);
const struct _xmlNode *config_sibling(const struct _xmlNode *node);

/** config_is - is @name the name of the element @node? */
int config_is(const struct _xmlNode *node, const char *name);

/** config_get - get the value of an attribute without blanks around it, in the file's arena.
 *  Returns NULL when there is no such attribute, or without memory. */
const char *config_get(struct config_reader *r, const struct _xmlNode *node, const char *attribute);

/** config_get_boolean - get the value of a boolean attribute, or @otherwise when @node has no such
 *  attribute. */
int config_get_boolean(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                       int otherwise);

/** config_offset - return the offset in the file of the `<` of @node's start tag. */
size_t config_offset(const struct config_reader *r, const struct _xmlNode *node);

/** config_text - get the text in @node, in the file's arena. Returns NULL without memory. */
const char *config_text(struct config_reader *r, const struct _xmlNode *node);

/** config_text_offset - return the offset in the file of byte @at of the text in @node. */
size_t config_text_offset(const struct config_reader *r, const struct _xmlNode *node, size_t at);

/* ---- parts of rules -------------------------------------------------------------------------- */

enum config_name { CONFIG_ASSEMBLY, CONFIG_TYPE, CONFIG_METHOD, CONFIG_ATTRIBUTE };

/** config_pattern - read and check the pattern in @attribute. Without the attribute, the pattern
 *  matches anything. */
struct sxs_pattern config_pattern(struct config_reader *r, const struct _xmlNode *node,
                                  const char *attribute, enum config_name kind);

/** config_parameters - read the parameter list in @attribute into @match. @has_wildcards: nonzero:
 *  `*` and `?` are wildcards. */
void config_parameters(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                       int has_wildcards, struct sxs_match *match);

/** config_bounds - read minVersion and maxVersion, which both kinds of files have, into @match. */
void config_bounds(struct config_reader *r, const struct _xmlNode *node, struct sxs_match *match);

/** config_read_action - read the action @node into @action. */
void config_read_action(struct config_reader *r, const struct _xmlNode *node,
                        struct sxs_action *action);

/** config_read_il - read and check the <inject> element @node into @action. */
void config_read_il(struct config_reader *r, const struct _xmlNode *node,
                    struct sxs_action *action);

#endif
