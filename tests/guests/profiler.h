/* SPDX-License-Identifier: MIT */
/**
 * profiler.h - what the profilers of tests share: exports, class factory, callback object.
 *
 * Each profiler is one library of profiler.c and one file of its own, which defines
 * prof_initialize(), prof_shutdown() and the callbacks it is interested in (prof_NAME(), see the
 * generated sxs_profiler.inc). Callbacks that it does not define are counted. The profilers use
 * nothing of the project but the tables of the ABI: a runtime loads them directly, too.
 */
#ifndef SXS_TESTS_GUESTS_PROFILER_H
#define SXS_TESTS_GUESTS_PROFILER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sxs_profiler.h"

/** The profiler on one runtime. */
struct prof {
    ICorProfilerCallback11 com; /* first: callbacks get its address */
    atomic_uint            refs;
    unsigned               number; /* 1, 2... in order of Initialize in this process */
    ICorProfilerInfo15    *info;   /* has only the slots of `version` */
    unsigned               version;
    unsigned               n_slots; /* slots of info, as `version` has them */
    char                   runtime[32];                /* as in "10.0.11" */
    _Atomic uint64_t       counts[SXS_N_CALLBACK_SLOTS]; /* calls of each callback */
    void                  *own;                        /* of the profiler */
};

extern const char *const prof_names[SXS_N_CALLBACK_SLOTS];

/** The profiler's class ID, as text; defined by each profiler. */
extern const char prof_clsid[];

/** The profiler's name in its output; a profiler that defines none is named by its class ID. */
extern const char prof_name[] __attribute__((weak));

/** The highest ICorProfilerCallback that QueryInterface answers; 11 unless a profiler defines it. */
extern const unsigned prof_callback_version __attribute__((weak));

/** Called in Initialize, when p->info is there. */
HRESULT prof_initialize(struct prof *p);

/** Called in Shutdown, or when the profiler was detached; prints the result. */
void prof_shutdown(struct prof *p);

static inline struct prof *prof_of(ICorProfilerCallback11 *self)
{
    return (struct prof *)(void *)self;
}

/** Prints one line of the result: to the file PROF_OUT names, which is appended to, or to standard
 *  error. The line begins with the name of the profiler and the version of its runtime. */
void prof_say(const struct prof *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
