/* SPDX-License-Identifier: MIT */
/** library.h - names of the profiler libraries, and where to find them relative to this command. */
#ifndef SXS_CMD_LIBRARY_H
#define SXS_CMD_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#include "include/sxsprof.h"

#define SXS_LIBRARY_FILE "libsxsprof.so"
#define SXS_CLRIE_FILE   "libsxsprof-clrie.so"
#define SXS_PRELOAD_FILE "libsxsprof-preload.so"
#define SXS_MALLOC_FILE  "libsxsprof-malloc.so"

/**
 * Absolute paths without symbolic links. For a missing file, the path where it was expected first.
 */
struct sxs_library {
    char profiler[PATH_MAX]; /* libsxsprof.so */
    char clrie[PATH_MAX];    /* libsxsprof-clrie.so */
    char preload[PATH_MAX];  /* libsxsprof-preload.so */
    char allocator[PATH_MAX]; /* libsxsprof-malloc.so */
    char bin_dir[PATH_MAX];  /* the folder that contains this command */
    bool has_profiler;
    bool has_clrie; /* is in the folder of libsxsprof.so, which loads it from there */
    bool has_preload;
    bool has_allocator;
};

/**
 * sxs_library_find - find the libraries beside this command or in <its folder>/../lib/sxsprof.
 * Returns 0, or an errno value when the path of this command cannot be determined. Any thread.
 */
int sxs_library_find(struct sxs_library *out);

/** sxs_library_is_own - return true when the file @path is the profiler library or a copy of it under
 *  another name, such as libInstrumentationEngine.so. */
bool sxs_library_is_own(const char *path);

#endif
