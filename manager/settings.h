/* SPDX-License-Identifier: MIT */
/** settings.h - the manager's settings from the environment, read once: SXSPROF_PICK,
 *  SXSPROF_UNPICKED, SXSPROF_TOOLS and SXSPROF_OUT. The manual page
 *  sxsprof-environment(7) describes them. */
#ifndef SXS_MANAGER_SETTINGS_H
#define SXS_MANAGER_SETTINGS_H

#include "base/base.h"
#include "manager/runtime_internal.h"

enum sxs_pick { SXS_PICK_ALL, SXS_PICK_FIRST, SXS_PICK_ONE };

struct sxs_settings {
    enum sxs_pick pick;
    char          pick_what[512]; /* after "one:": a version prefix or a path of libcoreclr.so */
    int           cancel;         /* 1: SXSPROF_UNPICKED=cancel */
    const char   *out;            /* SXSPROF_OUT, or NULL; lives as long as the process */
    size_t        n_tools;
    struct sxs_enabled_tool tools[SXS_MAX_TOOLS];
    char                   *tools_text; /* never freed: the tools' options point into it; may be NULL */
};

/** Functions that replace settings before they are used: continuous mode records into folders of its own.
 *  Each function receives the text from the environment, or NULL, and returns the text to use, which is never freed. */
struct sxs_settings_changes {
    const char *(*tools)(const char *text); /* of SXSPROF_TOOLS; called first */
    const char *(*out)(const char *text);   /* of SXSPROF_OUT */
};

/** sxs_settings_change_by - call the functions of @changes, which is static, when the settings are read.
 *  To be called before that. */
void sxs_settings_change_by(const struct sxs_settings_changes *changes);

/**
 * sxs_settings_read - read the environment into @s.
 * @known: the @n_known tools that exist.
 * For a value that is not understood, logs one line with the values that are expected, and uses the
 * default. Allocates memory that is never freed, so call it once per process.
 */
void sxs_settings_read(struct sxs_settings *s, const struct sxs_tool *const *known, size_t n_known);

/**
 * sxs_settings_parse_tools - read the tools of a request into @s, after those that are always on.
 * @text: as SXSPROF_TOOLS; changed, and referred to by @s.
 * Returns 0, or -1 with a sentence in @why (@size bytes).
 */
int sxs_settings_parse_tools(struct sxs_settings *s, const struct sxs_tool *const *known,
                             size_t n_known, char *text, char *why, size_t size);

/** sxs_settings_parse_pick - read a value of SXSPROF_PICK into @s. NULL: all. Returns 0, or -1 when it
 *  is not understood. */
int sxs_settings_parse_pick(struct sxs_settings *s, const char *text);

/** sxs_settings_names - test whether @what, the text after "one:", names a runtime.
 *  @what: a version prefix ("8" and "8.0" name 8.0.29 but not 80.1), or, if it contains a slash,
 *    the path of the file that the runtime was loaded from.
 *  @version, @path: the runtime's.
 *  Returns 1 when it does, else 0. */
int sxs_settings_names(const char *what, const char *version, const char *path);

#endif
