/* SPDX-License-Identifier: MIT */
/** settings.h - everything the environment decides, read once. README has the same table. */
#ifndef SXS_SETTINGS_H
#define SXS_SETTINGS_H

#include "manager/base/base.h"
#include "manager/runtime_internal.h"

enum sxs_pick { SXS_PICK_ALL, SXS_PICK_FIRST, SXS_PICK_ONE };

struct sxs_settings {
    enum sxs_pick pick;
    char          pick_what[512]; /* of "one:": a version prefix or a path of libcoreclr.so */
    int           cancel;         /* SXSPROF_UNPICKED=cancel */
    const char   *out;            /* SXSPROF_OUT, or NULL; lives as long as the process */
    size_t        n_tools;
    struct sxs_enabled_tool tools[SXS_MAX_TOOLS];
    char                   *tools_text; /* kept for good: options point into it; NULL: none */
};

/**
 * sxs_settings_read - reads the environment into @s.
 * @known: the @n_known tools that exist. A value that is not understood is reported in one line that
 * says what was expected, and its default holds. Allocates what it keeps once per process.
 */
void sxs_settings_read(struct sxs_settings *s, const struct sxs_tool *const *known, size_t n_known);

/** True if @version or @path is what @what names: "8" and "8.0" name 8.0.29 but not 80.1; a text with
 *  a slash names the runtime loaded from that very file. */
int sxs_settings_names(const char *what, const char *version, const char *path);

#endif
