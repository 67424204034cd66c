/* SPDX-License-Identifier: MIT */
/** library.h - a shared library and the functions wanted of it. */
#ifndef SXS_HARNESS_LIBRARY_H
#define SXS_HARNESS_LIBRARY_H

#include <stddef.h>

struct sxs_export {
    const char *name;
    void       *to; /* address of the function pointer to fill */
};

/**
 * sxs_library_load - loads @path (RTLD_LOCAL, for the life of the process) and looks up @n exports.
 * Returns 0, or -1 with a sentence in @why (@why_size bytes): @cannot and the loader's reason, or which
 * export is missing. Any thread.
 */
int sxs_library_load(const char *path, const struct sxs_export *exports, size_t n,
                     const char *cannot, char *why, size_t why_size);

#endif
