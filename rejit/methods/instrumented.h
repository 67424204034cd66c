/* SPDX-License-Identifier: MIT */
/**
 * instrumented.h - the instrumented methods of all runtimes: the rules that apply to each, and its
 * state.
 *
 * Any thread. Takes a lock of its own, under which no runtime is called. Not signal-safe.
 */
#ifndef SXS_REJIT_METHODS_INSTRUMENTED_H
#define SXS_REJIT_METHODS_INSTRUMENTED_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "manager/runtime.h"
#include "rejit/methods/plan.h"

#define SXS_INSTRUMENTED_RULES 64u /* rules applied to one method; further ones are left out */

/** Identifies a method: it is unique among the loaded modules of all runtimes. */
struct sxs_instrumented_key {
    sxs_module module;
    mdToken    token;
};

/** What new IL of a method must contain: a copy for the thread that makes this IL. */
struct sxs_instrumented_work {
    const struct sxs_marker *marker; /* lives as long as the process */
    struct sxs_plan         *plan;   /* owned reference; NULL: the method keeps its original IL */
    const struct sxs_rule   *rules[SXS_INSTRUMENTED_RULES]; /* borrowed from the plan */
    size_t                   n_rules;
    uint64_t                 identity; /* hash of all rules in their order */
};

/**
 * sxs_instrumented_want - set the rules that apply to a method.
 * @assembly, @name: written to the session file; copied.
 * @rules: rules of @plan, @n of them; the array is copied.
 * Returns 1 when the rules differ from the previous ones, so that the runtime must be asked for new
 * IL. Returns 0 when they are the same. Also returns 0 when there are as many instrumented methods
 * as there may be: the method stays as it is, and the log says so once. Returns -1: no memory.
 */
int sxs_instrumented_want(struct sxs_instrumented_key key, const char *assembly, const char *name,
                          struct sxs_plan *plan, const struct sxs_rule *const *rules, size_t n);

/** sxs_instrumented_keep - keep a method's rules, though the search for the plan of @generation did
 *  not find the method. Does nothing when the method is not instrumented. */
void sxs_instrumented_keep(struct sxs_instrumented_key key, uint32_t generation);

/**
 * sxs_instrumented_drop_outdated - drop the rules of methods of @module that the plan of
 * @generation does not want.
 * @out: receives these methods, @room at most.
 * Returns their number. While it equals @room, call the function again.
 */
size_t sxs_instrumented_drop_outdated(sxs_module module, uint32_t generation,
                                      struct sxs_instrumented_key *out, size_t room);

/** sxs_instrumented_get_work - fill in *work for a method. Returns 1, and the caller calls
 *  sxs_instrumented_work_done() in the end; or 0 when the method is not instrumented. */
int  sxs_instrumented_get_work(struct sxs_instrumented_key key, struct sxs_instrumented_work *work);
void sxs_instrumented_work_done(struct sxs_instrumented_work *work);

/** sxs_instrumented_set_woven - set the state that @work led to. Does nothing when the method's
 *  rules have changed since sxs_instrumented_get_work(). */
void sxs_instrumented_set_woven(struct sxs_instrumented_key         key,
                                const struct sxs_instrumented_work *work,
                                enum sxs_instrumented_state state, HRESULT hr, const char *text);

/** sxs_instrumented_is_wanted - return nonzero when rules apply to the method now. Costs one load
 *  while no method is instrumented. */
int sxs_instrumented_is_wanted(struct sxs_instrumented_key key);

/** Whether a method can get new IL only once, when it is compiled for the first time. This is so in
 *  collectible assemblies, and in runtimes without ReJIT. */
enum sxs_instrumented_once {
    SXS_ONCE_NOT,  /* no: the method can be re-JITted */
    SXS_ONCE_OPEN, /* yes, and the method is not compiled yet */
    SXS_ONCE_DONE, /* yes, and the method is compiled: its IL can no longer change */
};

/** sxs_instrumented_set_once - record that a method can get new IL only once. Returns the state
 *  before this call. */
enum sxs_instrumented_once sxs_instrumented_set_once(struct sxs_instrumented_key key);

/** sxs_instrumented_set_compiling - record that a method is being compiled. Returns nonzero when
 *  this is the only time that the method can get new IL. */
int sxs_instrumented_set_compiling(struct sxs_instrumented_key key);

/** The number of methods that can be instrumented during the life of the process:
 *  SXS_INSTRUMENTED_MAX.
 *  Tests set a smaller one before any method is instrumented. */
extern uint32_t sxs_instrumented_limit;

/** sxs_instrumented_any - return nonzero when any method is or was instrumented. Lock-free. */
int sxs_instrumented_any(void);

/** sxs_instrumented_set_state - set a method's state. The state is written to the session file; a
 *  failure is also logged.
 *  @text: the reason of a failure. */
void sxs_instrumented_set_state(struct sxs_instrumented_key key, enum sxs_instrumented_state state,
                                HRESULT hr, const char *text);

/**
 * sxs_instrumented_set_compiled - record that the runtime has finished compiling a method, once for
 * each active new IL.
 * @first: nonzero when this was the method's first compilation.
 */
void sxs_instrumented_set_compiled(struct sxs_instrumented_key key, int first);

/**
 * sxs_instrumented_set_unloaded - set aside the instrumented methods of @module, which is unloaded.
 * @module: its id 0 means all modules of the runtime, which ends.
 * When a module with a method of the same assembly name, method name and token is loaded into the
 * same runtime later, this method gets the same marker, with its number and its counts. So modules
 * that are loaded and unloaded repeatedly take no more numbers than are in use at the same time.
 * Its time depends on the number of instrumented methods in @module only.
 */
void sxs_instrumented_set_unloaded(sxs_module module);

#endif
