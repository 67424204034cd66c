/* SPDX-License-Identifier: MIT */
/** called.h - an instrumented method, and the marker that its hooks receive. */
#ifndef SXS_TOOLS_CALLS_CALLED_H
#define SXS_TOOLS_CALLS_CALLED_H

#include <stdatomic.h>

#include "manager/runtime.h"
#include "session/format/calls.h"

#define SXS_CALLED_OFF     1u /* calls are counted, but no longer timed */
#define SXS_CALLED_TAILS \
    4u                        /* the runtime's dispatcher of tail calls; not a counted function
                               * (tools/calls/tails.h) */
#define SXS_CALLED_RESUMES 2u /* MoveNext of an async method; tools/calls/await.h is used */

/** An instrumented method, and the marker that hooks receive instead of a FunctionID. The marker
 *  also identifies the runtime. It is never freed, because compiled code holds its address. */
struct sxs_called {
    _Atomic uint32_t             off;         /* flags SXS_CALLED_… */
    uint32_t                     number;      /* 0, 1, 2... in this process */
    sxs_calls_ref                cell;        /* reference to `record` in the calls file */
    uint32_t                     runtime;     /* the runtime's number */
    uintptr_t                    id;          /* FunctionID */
    struct sxs_calls_function   *record;      /* in the mapped calls file */
    _Atomic uint64_t             looked;      /* tick at which the call rate was last checked */
    struct sxs_runtime          *rt;          /* borrowed: a hooked runtime object is never freed */
    int                          with_values; /* 1: record arguments and results */
    _Atomic(struct sxs_formatter *) formatter;   /* value formatter; NULL: not made yet */
};

#endif
