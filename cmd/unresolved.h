/* SPDX-License-Identifier: MIT */
/** unresolved.h - asks the dynamic loader which data symbols of a library are defined nowhere. */
#ifndef SXS_CMD_UNRESOLVED_H
#define SXS_CMD_UNRESOLVED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * sxs_library_unresolved - find a data symbol without which @path cannot be loaded. (Undefined
 * functions are looked for at their first call, so a library with them can be loaded.)
 * The loader of this process looks, in a process of its own, and runs no code of the library.
 * @symbol: receives the name; @in: the library that uses it: @path, or one that it needs. @size bytes
 * each.
 * Returns true when there is one; false when there is none, or when this is not known: a library
 * that @path needs is not found here.
 */
bool sxs_library_unresolved(const char *path, char *symbol, char *in, size_t size);

#endif
