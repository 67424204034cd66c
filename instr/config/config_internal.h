/* SPDX-License-Identifier: MIT */
/** instr/config/config_internal.h - memory, files and the lists of a config, for the files of this
 *  folder. */
#ifndef SXS_INSTR_CONFIG_CONFIG_INTERNAL_H
#define SXS_INSTR_CONFIG_CONFIG_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>

#include "instr/config/config.h"

/* ---- arenas ---------------------------------------------------------------------------------- */

struct config_chunk;

/** Memory that is freed all at once. */
struct config_arena {
    struct config_chunk *chunks;
    size_t               left;   /* free bytes in the first chunk */
    int                  failed; /* there was no memory; all further allocations return NULL */
};

/** config_alloc - allocate @size zeroed bytes, aligned for any type. Without memory, returns NULL
 *  and sets `failed`. */
void *config_alloc(struct config_arena *arena, size_t size);

/** config_strndup, config_strdup, config_vprintf, config_printf - make a zero-terminated string in
 *  the arena. Return NULL without memory, and then `failed` is set. */
char *config_strndup(struct config_arena *arena, const char *s, size_t len);
char *config_strdup(struct config_arena *arena, const char *s);
char *config_vprintf(struct config_arena *arena, const char *format, va_list args);
char *config_printf(struct config_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void config_arena_clear(struct config_arena *arena);

/* ---- one file -------------------------------------------------------------------------------- */

/** The rules of one file. Several configs can share it. */
struct config_file {
    atomic_uint         refs;  /* references held by configs */
    struct config_arena arena; /* memory of all that the rules point to */
    const char         *path;
    struct sxs_rule    *rules; /* in the order of the file */
    uint32_t            n_rules, room;
};

struct config_file *config_file_new(const char *path);
void                config_file_unref(struct config_file *file); /* NULL is allowed */

/** config_file_add - add a zeroed rule. The rule can move when the next one is added. Returns NULL
 *  without memory. */
struct sxs_rule *config_file_add(struct config_file *file);

/* ---- a config under construction ------------------------------------------------------------- */

struct config_whole {
    struct sxs_config    shown; /* the part that other folders see */
    struct config_arena  arena; /* memory of the texts of problems */
    struct sxs_problem  *problems;
    uint32_t             problems_room;
    struct config_file **files;
    uint32_t             n_files, files_room;
    int                  failed; /* there was no memory */
};

struct config_whole *config_whole_new(void);

/** config_whole_add - add @file, and take over one reference to it. */
void config_whole_add(struct config_whole *whole, struct config_file *file);

/** config_whole_find - return the file with this path in @config, borrowed; NULL: there is none.
 *  NULL as @config is allowed. */
struct config_file *config_whole_find(const struct sxs_config *config, const char *path);

/** config_whole_problem - add a copy of @problem and its texts. */
void config_whole_problem(struct config_whole *whole, const struct sxs_problem *problem);

/** config_whole_finish - sort the rules and problems. Returns whole->shown. If there was no memory,
 *  frees @whole and returns NULL. NULL as @whole is allowed. */
struct sxs_config *config_whole_finish(struct config_whole *whole);

/** config_rule_finish - set the content, the identity and, if none was given, the name of @rule.
 *  @arena: of the rule's file. */
void config_rule_finish(struct config_arena *arena, struct sxs_rule *rule);

/* ---- versions -------------------------------------------------------------------------------- */

/** config_compare_versions - return -1, 0 or 1 when @a is lower than, equal to or higher than
 *  @b. */
int config_compare_versions(const struct sxs_version *a, const struct sxs_version *b);

#endif
