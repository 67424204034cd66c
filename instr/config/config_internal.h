/* SPDX-License-Identifier: MIT */
/** config_internal.h - what the files of this folder share: memory, files, and the lists of a
 *  config. */
#ifndef SXS_CONFIG_INTERNAL_H
#define SXS_CONFIG_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>

#include "instr/config/config.h"

/* ---- memory that ends together --------------------------------------------------------------- */

struct config_chunk;

struct config_arena {
    struct config_chunk *chunks;
    size_t               left;   /* in the first */
    int                  failed; /* no memory: all that follows is NULL */
};

/** @size bytes, zeroed, aligned for anything. NULL: no memory, and the arena has failed. */
void *config_alloc(struct config_arena *arena, size_t size);
char *config_strndup(struct config_arena *arena, const char *s, size_t len);
char *config_strdup(struct config_arena *arena, const char *s);
char *config_vprintf(struct config_arena *arena, const char *format, va_list args);
char *config_printf(struct config_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void config_arena_clear(struct config_arena *arena);

/* ---- one file -------------------------------------------------------------------------------- */

/** The rules of one file. Configs share it; what they point to lies in its arena. */
struct config_file {
    atomic_uint         refs;
    struct config_arena arena;
    const char         *path;
    struct sxs_rule    *rules; /* in the order of the file */
    uint32_t            n_rules, room;
};

struct config_file *config_file_new(const char *path);
void                config_file_unref(struct config_file *file); /* NULL is fine */

/** One rule more, zeroed; it moves when the next is made. NULL: no memory. */
struct sxs_rule *config_file_add(struct config_file *file);

/* ---- a config under construction ------------------------------------------------------------- */

struct config_whole {
    struct sxs_config    shown; /* first: what others see of it */
    struct config_arena  arena; /* of problems */
    struct sxs_problem  *problems;
    uint32_t             problems_room;
    struct config_file **files;
    uint32_t             n_files, files_room;
    int                  failed; /* no memory */
};

struct config_whole *config_whole_new(void);

/** Takes one reference over. */
void config_whole_add(struct config_whole *whole, struct config_file *file);

/** The file of that path, borrowed. @config NULL is fine. NULL: none. */
struct config_file *config_whole_find(const struct sxs_config *config, const char *path);

/** All texts are copied. @expected NULL: nothing more to say. */
void config_whole_problem(struct config_whole *whole, const struct sxs_problem *problem);

/** Rules and problems in order. Returns what is shown; NULL, and all is freed: no memory. */
struct sxs_config *config_whole_finish(struct config_whole *whole);

/** The canonical text of @rule, into its file's arena, and its identity. */
void config_rule_finish(struct config_arena *arena, struct sxs_rule *rule);

/* ---- patterns -------------------------------------------------------------------------------- */

/** -1, 0 or 1. */
int config_compare_versions(const struct sxs_version *a, const struct sxs_version *b);

#endif
