/* SPDX-License-Identifier: MIT */
/**
 * library.h - who the profiler library is and where it lies beside this command.
 */
#ifndef SXS_REPORT_LIBRARY_H
#define SXS_REPORT_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#include "include/sxsprof.h"

#define SXS_LIBRARY_FILE "libsxsprof.so"
#define SXS_PRELOAD_FILE "libsxsprof-preload.so"

/** Absolute paths, without symbolic links. A missing file has the path it was expected at. */
struct sxs_library {
    char profiler[PATH_MAX]; /* libsxsprof.so */
    char preload[PATH_MAX];  /* libsxsprof-preload.so */
    char bin_dir[PATH_MAX];  /* the folder of this command */
    bool has_profiler;
    bool has_preload;
};

/**
 * sxs_library_find - look beside this command, then in <its folder>/../lib/sxsprof.
 * Returns 0, or an errno value when this command cannot tell where it lies itself. Any thread.
 */
int sxs_library_find(struct sxs_library *out);

#endif
