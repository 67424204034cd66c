/* SPDX-License-Identifier: MIT */
/** library.h - loads a shared library and looks up its exports. */
#ifndef SXS_HARNESS_LIBRARY_H
#define SXS_HARNESS_LIBRARY_H

#include <stddef.h>

struct sxs_export {
    const char *name;
    void       *to; /* address of the function pointer to fill */
};

/**
 * sxs_library_load - load @path (RTLD_LOCAL, for the life of the process) and look up @n exports.
 * @cannot: the beginning of the message when the library cannot be loaded.
 * @why:    receives, on failure, a sentence: @cannot and the loader's reason, or the export that is
 *          missing. @why_size bytes.
 * Returns 0 or -1. Any thread.
 */
int sxs_library_load(const char *path, const struct sxs_export *exports, size_t n,
                     const char *cannot, char *why, size_t why_size);

#endif
