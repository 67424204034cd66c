/* SPDX-License-Identifier: MIT */
/**
 * base/own_library.h - load a library for use by this project alone.
 *
 * The loader resolves a symbol of a linked library to the first definition in the process. If the host
 * exports functions with the same names, for example because it contains another version of the same
 * library, then this project, and the library itself, would call the host's functions. A library that
 * is opened with the function below uses its own symbols first, and its symbols are found by dlsym()
 * only.
 */
#ifndef SXS_BASE_OWN_LIBRARY_H
#define SXS_BASE_OWN_LIBRARY_H

#include <dlfcn.h>
#include <stddef.h>

/* Sanitizers refuse RTLD_DEEPBIND. */
#ifdef SXS_SANITIZED
#define SXS_OWN_SYMBOLS_FIRST 0
#else
#define SXS_OWN_SYMBOLS_FIRST RTLD_DEEPBIND
#endif

/**
 * sxs_own_library_open - load the first of the @n libraries @sonames that can be loaded.
 * Returns its handle for dlsym(), or NULL. Takes the loader's lock; not signal-safe. */
static inline void *sxs_own_library_open(const char *const *sonames, size_t n)
{
    void *library = NULL;
    for (size_t i = 0; i < n && !library; i++)
        library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL | SXS_OWN_SYMBOLS_FIRST);
    return library;
}

#endif
