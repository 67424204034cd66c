/* SPDX-License-Identifier: MIT */
/** runtime_internal.h - struct sxs_runtime, for manager/, callback/ and generated code. */
#ifndef SXS_MANAGER_RUNTIME_INTERNAL_H
#define SXS_MANAGER_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fork.h"
#include "manager/runtime.h"
#include "manager/tool.h"
#include "session/format/session.h"

enum sxs_phase {
    SXS_PHASE_CREATED, /* created by the class factory; no Info yet */
    SXS_PHASE_LIVE,    /* from the middle of Initialize */
    SXS_PHASE_ENDING,  /* in Shutdown, while tools are stopped: Info calls work, suspending fails */
    SXS_PHASE_ENDED,   /* after Shutdown, detach, or a failed Initialize */
};

struct sxs_runtime {
    atomic_uint      refs;
    unsigned         number; /* 1, 2, 3... in order of admission */
    int              owner;  /* number in the signal router; -1: none */
    _Atomic int      phase; /* enum sxs_phase */
    enum sxs_state   state; /* picked, guarded or cancelled */
    unsigned         generation;    /* sxs_fork_generation() of the process it was admitted in */
    uint64_t         in_child;      /* bit i: subs[i] also receives events in a forked child */
    struct sxs_census_runtime *row; /* counters; borrowed from the session, never NULL */

    _Atomic(ICorProfilerInfo15 *) info; /* one reference; the thread that exchanges it for NULL
                                         * releases it */
    _Atomic int      info_users;  /* number of Info calls in progress */
    unsigned         info_slots;  /* number of vtable slots of info_version; 0 before Initialize */
    unsigned         info_version; /* highest ICorProfilerInfo version of this runtime */
    int              attached;    /* 1: initialized by InitializeForAttach */
    _Atomic int      running;     /* 1: its Initialize or InitializeForAttach has succeeded */
    const void      *attach_data; /* during InitializeForAttach its client data; else NULL */
    unsigned         attach_size; /* in bytes */

    pthread_mutex_t  mask_lock; /* guards low, high, and the masks in subs; held during calls of
                                   * SetEventMask, never while a function of a tool is called */
    uint32_t         low, high; /* event mask in force: the union of the tools' masks */
    unsigned         n_subs;    /* fixed once Initialize has returned */
    struct sxs_sub   subs[SXS_MAX_TOOLS];
    uint64_t         in_group; /* bit i: subs[i] receives its events through `group` */
    const struct sxs_group_events *group; /* not NULL when `in_group` is not 0 */
    _Atomic uint64_t wants[SXS_N_CALLBACK_SLOTS]; /* bit i: subs[i] receives this event */

    struct rejit_table *rejit; /* methods with new IL (rejit_internal.h), from start() to release()
                                * of the tool rejit; NULL: none */
    _Atomic EVENTPIPE_PROVIDER provider; /* of its own events (own_sessions.c); 0: not known yet */

    struct sxs_hooks *hooks; /* registry of enter and leave hooks (hooks/); NULL: none are set */
    void (*apply_hooks)(struct sxs_runtime *rt); /* set with `hooks`; called in Initialize when all
                                                  * tools have started and the mask is set */

    char             version[64]; /* as in "8.0.29" */
    char             path[512];   /* of libcoreclr.so; "" if unknown */
};

/* ---- for generated code ---------------------------------------------------------------------- */

/** sxs_runtime_info - begin a call of the runtime's Info.
 *  @slot: vtable slot of the method. @out: receives the Info, borrowed until
 *    sxs_runtime_info_done(), which must follow a success; NULL after a failure.
 *  Returns S_OK, E_NOTIMPL when this runtime's Info lacks the slot, or
 *  CORPROF_E_RUNTIME_UNINITIALIZED when the runtime is not live or in a forked child. */
HRESULT sxs_runtime_info(struct sxs_runtime *rt, unsigned slot, ICorProfilerInfo15 **out);
void    sxs_runtime_info_done(struct sxs_runtime *rt);

/** sxs_runtime_foreign_id - report that an ID of @other was passed to @rt's Info.
 *  Logs one line and asserts in debug builds. Returns E_INVALIDARG. */
HRESULT sxs_runtime_foreign_id(const struct sxs_runtime *rt, const struct sxs_runtime *other,
                               const char *method);

/** Return 1 when this process is a forked child of the process that admitted @rt. The child must
 *  not call @rt, and only tools with in_child set receive its events. Signal-safe. */
SXS_SIGSAFE static inline int sxs_runtime_is_inherited(const struct sxs_runtime *rt)
{
    return rt->generation != sxs_fork_generation();
}

/** Return a bit for each subscription that receives the event @slot. */
static inline uint64_t sxs_runtime_wants(struct sxs_runtime *rt, unsigned slot)
{
    uint64_t bits = atomic_load_explicit(&rt->wants[slot], memory_order_acquire);
    return bits && sxs_runtime_is_inherited(rt) ? bits & rt->in_child : bits;
}

/** Return the subscription of the lowest bit in @left, which must not be 0, and clear that bit. */
static inline struct sxs_sub *sxs_runtime_next_sub(struct sxs_runtime *rt, uint64_t *left)
{
    unsigned i = (unsigned)__builtin_ctzll(*left);
    *left &= *left - 1;
    return &rt->subs[i];
}

/* ---- life cycle, for callback/ ------------------------------------------------------------- */

/** Create a runtime with one reference, not yet in the manager's list; NULL when out of memory. */
struct sxs_runtime *sxs_runtime_new(void);

/** sxs_runtime_connect - take the Info from the object that Initialize received, and ask the
 *  runtime for its version.
 *  Returns S_OK, E_INVALIDARG when @info_unknown is NULL, or E_NOINTERFACE when it has no version
 *  of ICorProfilerInfo. */
HRESULT sxs_runtime_connect(struct sxs_runtime *rt, IUnknown *info_unknown);

/** sxs_runtime_subscribe - start the @n enabled @tools and set the event mask to the union of their
 *  masks. A tool that cannot start, or whose mask the runtime refuses, is left out, and one line is
 *  logged. Returns S_OK. Called in Initialize. */
HRESULT sxs_runtime_subscribe(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n);

/** sxs_runtime_end - stop delivering events, call stop() of the runtime's tools, release the Info.
 *  @detached: 0 in Shutdown, 1 when the runtime must not be called any more.
 *  The Info is released when the last Info call in progress has returned. Idempotent. */
void sxs_runtime_end(struct sxs_runtime *rt, int detached);

#endif
