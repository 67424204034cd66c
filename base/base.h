/* SPDX-License-Identifier: MIT */
/** base.h - the few words every file needs. */
#ifndef SXS_BASE_H
#define SXS_BASE_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
    ((type *)(void *)((char *)(uintptr_t)(ptr) - offsetof(type, member)))

/** Exported from the shared library; everything else is hidden (-fvisibility=hidden). */
#define SXS_EXPORT __attribute__((visibility("default")))

/** Marks what may run inside a signal handler: it calls marked functions, atomics, and what
 *  docs/signal-safety.md lists. tests/lint/signal-safety.sh follows the mark. */
#if defined(__clang__)
#define SXS_SIGSAFE __attribute__((annotate("sxs_sigsafe")))
#else
#define SXS_SIGSAFE
#endif

/** Initial-exec: reached without __tls_get_addr, hence usable in a signal handler. */
#define SXS_TLS __thread __attribute__((tls_model("initial-exec")))

#endif
