/* SPDX-License-Identifier: MIT */
/** symbols/names.h - names functions and types, for code outside of this folder. */
#ifndef SXS_SYMBOLS_NAMES_H
#define SXS_SYMBOLS_NAMES_H

#include "manager/runtime.h"

struct sxs_namer;

/**
 * sxs_namer_new - make a namer, which keeps metadata scopes open between calls. One thread at a
 * time. Returns NULL when memory ran out. */
struct sxs_namer *sxs_namer_new(void);
void              sxs_namer_free(struct sxs_namer *namer);
/**
 * sxs_namer_reset - release all metadata scopes. Call it before a module of any runtime is
 * unloaded. */
void sxs_namer_reset(struct sxs_namer *namer);

/**
 * sxs_namer_function - the name of @fn, "Namespace.Type<Arg>.Method(Param)".
 * @out: receives at most @size bytes, including the terminating zero; never "".
 * Call it in a callback of that runtime or on a thread that no runtime knows: a runtime refuses
 * metadata calls to its own threads elsewhere. */
void sxs_namer_function(struct sxs_namer *namer, sxs_function fn, char *out, size_t size);

/** sxs_namer_class - the name of @cls, "Namespace.Type<Arg>". Otherwise as sxs_namer_function(). */
void sxs_namer_class(struct sxs_namer *namer, sxs_class cls, char *out, size_t size);

/**
 * sxs_namer_find - find the function of @rt whose code contains @ip, including code without
 * metadata (dynamic methods, stubs).
 * Returns 1 and fills @fn, or 0. Threads: as sxs_namer_function(). */
int sxs_namer_find(struct sxs_runtime *rt, uintptr_t ip, sxs_function *fn);

/**
 * sxs_namer_file - the path of the file that @module was loaded from, UTF-8; "" if it has no
 * file. Returns the path's length, less than @size. Threads: as sxs_namer_function(). */
size_t sxs_namer_file(sxs_module module, char *out, size_t size);

#endif
