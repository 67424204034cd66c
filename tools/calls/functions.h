/* SPDX-License-Identifier: MIT */
/**
 * functions.h - decides which functions are hooked, and keeps the marker that each hook receives.
 *
 * The decision on a function is made once: when its runtime is about to compile the function, or
 * asks whether it may inline the function. The runtime calls the mapper in the middle of a
 * compilation; the mapper only looks the decision up.
 */
#ifndef SXS_TOOLS_CALLS_FUNCTIONS_H
#define SXS_TOOLS_CALLS_FUNCTIONS_H

#include "tools/calls/called.h"

/** sxs_functions_init - read SXSPROF_CALLS, SXSPROF_VALUES and SXSPROF_CALLS_NOT.
 *  Logs one line for each invalid pattern and ignores the pattern. @header: of the calls file,
 *  borrowed for the life of the process. Returns 0 or -ENOMEM. */
int sxs_functions_init(struct sxs_calls_header *header);

/**
 * sxs_functions_decide - return 1 if @fn is to be hooked, else 0.
 * The first call for a function asks the runtime for its name. Call in a callback of the runtime of
 * @fn. Takes locks.
 */
int sxs_functions_decide(sxs_function fn);

/** sxs_functions_may_inline - return 1 if the JIT asks to inline a hooked function, else 0.
 *  Counts the request in the function's record. @out: receives the marker of @fn, or NULL.
 *  Call in a callback of the runtime of @fn. Takes locks. */
int sxs_functions_may_inline(sxs_function fn, const struct sxs_called **out);

/** sxs_functions_name - write the name of @fn to @out, of @size bytes. Call in a callback of the
 *  runtime of @fn. Takes a lock. */
void sxs_functions_name(sxs_function fn, char *out, size_t size);

/** sxs_functions_module - write the methods of @module that match a pattern to the calls file. Call
 *  in the callback that reports the module's load. Takes a lock. */
void sxs_functions_module(sxs_module module);

/** sxs_functions_find - return the marker for the hooks of a function, or NULL when the function is
 *  not hooked. Takes a lock for a short time; never calls a runtime. */
struct sxs_called *sxs_functions_find(const struct sxs_runtime *rt, FunctionID id);

/**
 * sxs_functions_back_off - stop timing @fn if its calls are too frequent and too short.
 * @ticks: the mean duration of a call, in ticks.
 * Hooks call this function once in `every` calls (sxs_functions_limits()). Short; takes no lock.
 */
void sxs_functions_back_off(struct sxs_called *fn, uint64_t ticks);

/** sxs_functions_limits - set the limits for sxs_functions_back_off(): stop timing a function that
 *  is called more than @hz times a second (0: never stop) if a call takes less than @ns
 *  nanoseconds.
 *  @every: number of calls between two checks. */
void sxs_functions_limits(unsigned hz, unsigned ns, unsigned every);

/** sxs_functions_follow_awaits - from now on detect async methods and set SXS_CALLED_RESUMES. Call
 *  before the decision on the first function. */
void sxs_functions_follow_awaits(void);

/** sxs_functions_awaits_followed - return 1 after sxs_functions_follow_awaits(), else 0. */
int  sxs_functions_awaits_followed(void);

/** sxs_functions_at - return the marker whose record lies at @cell, or NULL. Takes a lock; do not
 *  call in a hook. */
struct sxs_called *sxs_functions_at(sxs_calls_ref cell);

/** sxs_functions_forget - forget the decision on @fn, which is about to be unloaded: the runtime
 *  may use its FunctionID for another function. Takes a lock. */
void sxs_functions_forget(sxs_function fn);

/** sxs_functions_close - release cached metadata because a module of @rt is about to be unloaded,
 *  or because @rt ends. Takes locks. */
void sxs_functions_close(const struct sxs_runtime *rt);

/** sxs_functions_end - stop hooking in a forked child. From now on sxs_functions_decide(), _find(),
 *  _forget() and _close() do nothing and take no lock. */
void sxs_functions_end(void);

#endif
