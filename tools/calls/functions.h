/* SPDX-License-Identifier: MIT */
/**
 * functions.h - which functions are hooked, and what their hooks are handed.
 *
 * A function is decided upon once, when its runtime is about to compile it or asks whether it may
 * inline it; the mapper, which is asked in the middle of a compilation, only looks it up.
 */
#ifndef SXS_CALLS_FUNCTIONS_H
#define SXS_CALLS_FUNCTIONS_H

#include <stdatomic.h>

#include "manager/runtime.h"
#include "session/format/calls.h"

#define SXS_CALLED_OFF     1u /* counted, no longer timed */
#define SXS_CALLED_RESUMES 2u /* an async method's MoveNext: tools/calls/await.h is asked for its callers */

/** What a hook gets instead of a FunctionID: it carries the runtime. Lives as long as the process:
 *  compiled code holds its address. */
struct sxs_called {
    _Atomic uint32_t           off;    /* SXS_CALLED_… */
    uint32_t                   number; /* 0, 1, 2... in this process */
    sxs_calls_ref              cell;   /* struct sxs_calls_function */
    uint32_t                   runtime;/* its number */
    uintptr_t                  id;     /* FunctionID */
    struct sxs_calls_function *record;
    _Atomic uint64_t           looked; /* tick of the last look at how often it is called */
    struct sxs_runtime        *rt;     /* borrowed: hooked runtimes are kept for good */
    int                        with_values; /* 1: arguments and results are wanted */
    _Atomic(struct sxs_recipe *) recipe;  /* how to show them; NULL: not known yet */
};

/** Reads SXSPROF_CALLS and SXSPROF_CALLS_NOT; says in one line what is no pattern. 0 or -errno. */
int sxs_functions_init(struct sxs_calls_header *header);

/**
 * sxs_functions_decide - is @fn to be hooked? Asks the runtime at its first time. In a callback of
 * its runtime. Takes locks.
 */
int sxs_functions_decide(sxs_function fn);

/** The JIT asks whether it may inline @fn. 1: it is hooked: that is counted, @out is it. As above. */
int sxs_functions_may_inline(sxs_function fn, const struct sxs_called **out);

/** What @fn is called. In a callback of its runtime; takes a lock. */
void sxs_functions_name(sxs_function fn, char *out, size_t size);

/** @module has been loaded: what patterns name in it is noted down. In that callback. */
void sxs_functions_module(sxs_module module);

/** What the hooks of @fn are to be handed, or NULL: not hooked. Short; never calls a runtime. */
struct sxs_called *sxs_functions_find(const struct sxs_runtime *rt, FunctionID id);

/**
 * sxs_functions_back_off - @fn has been called a number of times again: if that was too often, and
 * @ticks, what a call takes, is short, it is timed no more. In a hook: short, no lock.
 */
void sxs_functions_back_off(struct sxs_called *fn, uint64_t ticks);

/** When that is: more than @hz calls a second (0: never), shorter than @ns; @every: calls between two
 *  looks. */
void sxs_functions_limits(unsigned hz, unsigned ns, unsigned every);

/** From now on SXS_CALLED_RESUMES is found out: before the first function is decided on. */
void sxs_functions_follow_awaits(void);
int  sxs_functions_awaits_followed(void);

/** The function whose record is that cell, or NULL. Takes a lock; not in a hook. */
struct sxs_called *sxs_functions_at(sxs_calls_ref cell);

/** @fn dies: its ID may come again for another. */
void sxs_functions_forget(sxs_function fn);

/** Modules or classes of @rt are about to go: what is kept open of its metadata is let go. */
void sxs_functions_close(const struct sxs_runtime *rt);

/** In a forked child: from now on nothing is hooked, written or locked here. */
void sxs_functions_end(void);

#endif
