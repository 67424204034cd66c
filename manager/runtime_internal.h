/* SPDX-License-Identifier: MIT */
/** runtime_internal.h - what a runtime is made of. For manager/, callback/ and generated code. */
#ifndef SXS_RUNTIME_INTERNAL_H
#define SXS_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fork.h"
#include "manager/runtime.h"
#include "manager/tool.h"
#include "session/format/session.h"

enum sxs_phase {
    SXS_PHASE_CREATED, /* by the class factory; no Info yet */
    SXS_PHASE_LIVE,    /* from the middle of Initialize */
    SXS_PHASE_ENDING,  /* in Shutdown, while tools are told: they may still ask, nobody may suspend */
    SXS_PHASE_ENDED,   /* after Shutdown, detach, or a failed Initialize */
};

struct sxs_runtime {
    atomic_uint      refs;
    unsigned         number;
    int              owner; /* of signals; -1: none */
    _Atomic int      phase; /* enum sxs_phase */
    enum sxs_state   state;
    unsigned         generation;    /* sxs_fork_generation() of the process it was admitted in */
    uint64_t         in_child;      /* bits of wants: subscriptions that go on in a forked child */
    struct sxs_census_runtime *row; /* counters; borrowed from the session, never NULL */

    _Atomic(ICorProfilerInfo15 *) info; /* one reference; whoever exchanges it for NULL releases it */
    _Atomic int      info_users;  /* calls under way */
    unsigned         info_slots;  /* of the version this runtime answered with */
    unsigned         info_version;
    int              attached;    /* came by InitializeForAttach */

    pthread_mutex_t  mask_lock;   /* guards subs' masks, low, high; Info may be called inside */
    uint32_t         low, high;   /* the union in force */
    unsigned         n_subs;      /* fixed once Initialize has returned */
    struct sxs_sub   subs[SXS_MAX_TOOLS];
    _Atomic uint64_t wants[SXS_N_CALLBACK_SLOTS]; /* bit i: subs[i] wants this event */

    char             version[64];
    char             path[512];
};

/* ---- for generated code ---------------------------------------------------------------------- */

/** The Info, for a call of @slot: @out is set and the call counted until sxs_runtime_info_done().
 *  Fails (and counts nothing, @out NULL) when the runtime is not live or lacks the slot. */
HRESULT sxs_runtime_info(struct sxs_runtime *rt, unsigned slot, ICorProfilerInfo15 **out);
void    sxs_runtime_info_done(struct sxs_runtime *rt);

/** An ID of @other was handed to @rt's Info: asserts in debug builds, says so, E_INVALIDARG. */
HRESULT sxs_runtime_foreign_id(const struct sxs_runtime *rt, const struct sxs_runtime *other,
                               const char *method);

/** 1 when this process is a forked child of the one that @rt was admitted in: @rt is asked nothing, and only tools with
 *  in_child set get its events. Signal-safe. */
SXS_SIGSAFE static inline int sxs_runtime_is_inherited(const struct sxs_runtime *rt)
{
    return rt->generation != sxs_fork_generation();
}

static inline uint64_t sxs_runtime_wants(struct sxs_runtime *rt, unsigned slot)
{
    uint64_t bits = atomic_load_explicit(&rt->wants[slot], memory_order_acquire);
    return bits && sxs_runtime_is_inherited(rt) ? bits & rt->in_child : bits;
}

static inline struct sxs_sub *sxs_runtime_next_sub(struct sxs_runtime *rt, uint64_t *left)
{
    unsigned i = (unsigned)__builtin_ctzll(*left);
    *left &= *left - 1;
    return &rt->subs[i];
}

/* ---- life cycle, for callback/ ---------------------------------------------------------------- */

/** A new runtime with one reference, not yet listed; NULL when out of memory. */
struct sxs_runtime *sxs_runtime_new(void);

/** Takes the Info (highest version) and the runtime's name from what Initialize was handed. */
HRESULT sxs_runtime_connect(struct sxs_runtime *rt, IUnknown *info_unknown);

/** Starts @n enabled tools, sets the union of their masks. Failing tools are left out. */
struct sxs_enabled_tool {
    const struct sxs_tool *tool;
    const char            *options;
};
HRESULT sxs_runtime_subscribe(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n);

/** No event reaches a tool any more; the Info is let go. Idempotent. */
void sxs_runtime_end(struct sxs_runtime *rt, int detached);

#endif
