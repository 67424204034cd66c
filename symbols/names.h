/* SPDX-License-Identifier: MIT */
/** names.h - what a function is called, for features outside this folder. */
#ifndef SXS_STACKWALK_NAMES_H
#define SXS_STACKWALK_NAMES_H

#include "manager/runtime.h"

struct sxs_namer;

/** A namer keeps metadata scopes open between calls. One thread at a time. NULL: out of memory. */
struct sxs_namer *sxs_namer_new(void);
void              sxs_namer_free(struct sxs_namer *namer);
/** Lets go of every metadata scope: before a module of any runtime is unloaded. */
void sxs_namer_reset(struct sxs_namer *namer);

/**
 * sxs_namer_function - "Namespace.Type<Arg>.Method(Param)" of @fn.
 * Writes at most @size bytes with the zero; never "". Call it in a callback of that runtime, or on a
 * thread that no runtime knows: a runtime refuses its metadata to its own threads elsewhere.
 */
void sxs_namer_function(struct sxs_namer *namer, sxs_function fn, char *out, size_t size);

/** sxs_namer_class - "Namespace.Type<Arg>" of @cls; as sxs_namer_function(). */
void sxs_namer_class(struct sxs_namer *namer, sxs_class cls, char *out, size_t size);

/**
 * sxs_namer_find - the function of @rt whose code contains @ip, code without metadata included
 * (dynamic methods, stubs). Returns 1 and fills @fn, or 0. Threads as above.
 */
int sxs_namer_find(struct sxs_runtime *rt, uintptr_t ip, sxs_function *fn);

/** sxs_namer_file - the path of the file @module came from, UTF-8; "" when it came from none.
 *  Returns its length, less than @size. Threads as above. */
size_t sxs_namer_file(sxs_module module, char *out, size_t size);

#endif
