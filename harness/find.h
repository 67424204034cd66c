/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_FIND_H
#define SXS_HARNESS_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* A runtime on disk. */
struct sxs_place {
    char *dir;       /* owned; absolute, holds libcoreclr.so */
    char *version;   /* owned; the folder's name, which is the version in every usual layout */
    bool  simulated; /* without System.Private.CoreLib.dll: runs no real app */
};

/**
 * sxs_place_find - find the runtime that @wanted names: a version prefix, a directory or
 * fake:VERSION.
 * @why: receives, on failure, one line that says what was expected and what there is.
 * Returns 0, or -1 with @out zeroed. Main thread. */
int sxs_place_find(const char *wanted, struct sxs_place *out, char *why, size_t why_size);

/* Frees the strings; a zeroed object is fine. */
void sxs_place_free(struct sxs_place *place);

#endif
