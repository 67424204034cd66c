/* SPDX-License-Identifier: MIT */
/** base.h - macros that every file uses. */
#ifndef SXS_BASE_BASE_H
#define SXS_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
    ((type *)(void *)((char *)(uintptr_t)(ptr) - offsetof(type, member)))

/** Exports a symbol from the shared library. All other symbols are hidden (-fvisibility=hidden). */
#define SXS_EXPORT __attribute__((visibility("default")))

/** Marks a function that may run inside a signal handler. A marked function calls only marked
 *  functions, atomic operations, and the functions that docs/internals/signal-safety.md lists.
 *  tests/lint/signal-safety.sh checks this. */
#if defined(__clang__)
#define SXS_SIGSAFE __attribute__((annotate("sxs_sigsafe")))
#else
#define SXS_SIGSAFE
#endif

/** Declares a thread-local variable of the initial-exec model. Access does not call
 *  __tls_get_addr(), so a signal handler may use the variable. */
#define SXS_TLS __thread __attribute__((tls_model("initial-exec")))

#endif
