/* SPDX-License-Identifier: MIT */
/** find.h - finds runtimes on disk. */
#ifndef SXS_HARNESS_FIND_H
#define SXS_HARNESS_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* A runtime on disk. */
struct found_runtime {
    char *dir;       /* owned; absolute, holds libcoreclr.so */
    char *version;   /* owned; the name of the folder, which usually is the version */
    bool  simulated; /* has no System.Private.CoreLib.dll, so it cannot run a real app */
};

/**
 * sxs_place_find - find a runtime.
 * @wanted: the beginning of a version, a directory, or fake:VERSION.
 * @why:    receives, on failure, one line with what was expected and which runtimes exist.
 * Returns 0, or -1 with @out zeroed. Main thread. */
int sxs_place_find(const char *wanted, struct found_runtime *out, char *why, size_t why_size);

/* Frees the strings; a zeroed object is allowed. */
void sxs_place_free(struct found_runtime *place);

#endif
