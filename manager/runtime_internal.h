/* SPDX-License-Identifier: MIT */
/** runtime_internal.h - struct sxs_runtime, for manager/, rejit/, elt/, guests/, callback/ and generated code. */
#ifndef SXS_MANAGER_RUNTIME_INTERNAL_H
#define SXS_MANAGER_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fork.h"
#include "base/hash.h"
#include "manager/runtime.h"
#include "manager/tool.h"
#include "session/format/session.h"

enum sxs_phase {
    SXS_PHASE_CREATED, /* created by the class factory; no Info yet */
    SXS_PHASE_LIVE,    /* from the middle of Initialize */
    SXS_PHASE_ENDING,  /* in Shutdown, while tools are stopped: Info calls work, suspending fails */
    SXS_PHASE_ENDED,   /* after Shutdown, detach, or a failed Initialize */
};

/* Threads that deliver an event are counted in one of several counters, so that they seldom share a
 * cache line, and in one of two columns, so that a thread that waits for the others is not kept
 * waiting by those that come later. */
#define SXS_INSIDE_STRIPES 16u
struct sxs_inside {
    _Atomic uint32_t n;
};
struct sxs_inside_stripe {
    struct sxs_inside column[2];
    char              other_line[64 - 2 * sizeof(struct sxs_inside)];
};

struct sxs_runtime {
    struct sxs_runtime *next; /* in the list of all runtimes (runtime.c); under its lock */
    atomic_uint      refs;
    unsigned         number; /* 1, 2, 3... in order of admission */
    int              owner;  /* number in the signal router; -1: none */
    unsigned hidden; /* of its handlers, those that another runtime hides (struct sxs_adoption) */
    _Atomic int      phase; /* enum sxs_phase */
    enum sxs_state   state; /* picked, guarded or cancelled */
    unsigned         generation;    /* sxs_fork_generation() of the process it was admitted in */
    _Atomic uint64_t in_child; /* bit i: subs[i] also receives events in a forked child */
    enum sxs_state   admitted_as; /* the state that the settings give it; a session may leave it out */
    struct sxs_census_runtime *row; /* counters; borrowed from the session, never NULL */

    _Atomic(ICorProfilerInfo15 *) info; /* one reference; the thread that exchanges it for NULL
                                         * releases it */
    _Atomic int      info_users;  /* number of Info calls in progress */
    unsigned         info_slots;  /* number of vtable slots of info_version; 0 before Initialize */
    unsigned         info_version; /* highest ICorProfilerInfo version of this runtime */
    const struct sxs_runtime_facts *facts;       /* of its version; NULL before Initialize */
    int              attached;    /* 1: initialized by InitializeForAttach */
    _Atomic int      leaving;     /* 1: the runtime has accepted the request to detach */
    _Atomic int      running;     /* 1: its Initialize or InitializeForAttach has succeeded */
    const void      *attach_data; /* during InitializeForAttach its client data; else NULL */
    unsigned         attach_size; /* in bytes */

    pthread_mutex_t  mask_lock; /* guards low, high, and the masks in subs; held during calls of
                                   * SetEventMask, never while a function of a tool is called */
    uint32_t         low, high; /* event mask in force: the union of the tools' masks */
    int              is_subscribed; /* 1: Initialize is over: immutable bits cannot be added */
    unsigned         n_subs; /* entries of subs that are or were in use */
    struct sxs_sub   subs[SXS_MAX_TOOLS]; /* never moved; an entry is used again after release() */
    /* Bit i: subs[i]... Changed under mask_lock. */
    uint64_t         taken;      /* ...is in use, from start() to release() */
    uint64_t         published;  /* ...has started, and counts for the event mask */
    uint64_t         of_session; /* ...belongs to the session */
    uint64_t         stop_called; /* ...its stop() has been called */
    uint64_t         stopped;    /* ...has ended before its runtime: its mask does not count */
    _Atomic uint64_t in_group; /* ...receives its events through `group` */
    _Atomic(const struct sxs_group_events *) group; /* not NULL when `in_group` is not 0 */
    _Atomic uint64_t wants[SXS_N_CALLBACK_SLOTS]; /* bit i: subs[i] receives this event */
    _Atomic unsigned column; /* of `inside` in which threads are counted now; its lowest bit */
    struct sxs_inside_stripe inside[SXS_INSIDE_STRIPES]; /* threads that deliver events */

    struct rejit_table *_Atomic rejit; /* methods with new IL (rejit/), from start() to release()
                                * of the tool rejit; NULL: none */
    _Atomic EVENTPIPE_PROVIDER provider; /* of its own events (own_sessions.c); 0: not known yet */

    struct sxs_hooks *hooks; /* registry of enter and leave hooks (elt/); NULL: none are set */
    void (*apply_hooks)(struct sxs_runtime *rt); /* set with `hooks`; called in Initialize when all
                                                  * tools have started and the mask is set */

    uintptr_t        base;        /* address of the runtime's module; 0 if unknown */
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
    uint64_t bits = atomic_load(&rt->wants[slot]);
    return bits && sxs_runtime_is_inherited(rt)
               ? bits & atomic_load_explicit(&rt->in_child, memory_order_relaxed)
               : bits;
}

/** sxs_runtime_enter - count the calling thread as inside of handlers. Read what the tools want, or
 *  what belongs to a tool, after this call. Returns what sxs_runtime_leave() needs. */
static inline struct sxs_inside *sxs_runtime_enter(struct sxs_runtime *rt)
{
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
    unsigned  stripe = (unsigned)(sxs_hash_id(thread) >> 60);
    unsigned  column = atomic_load_explicit(&rt->column, memory_order_relaxed) & 1;
    struct sxs_inside *inside = &rt->inside[stripe % SXS_INSIDE_STRIPES].column[column];
    /* Sequentially consistent, as the stores of `wants`: either sxs_runtime_drain() sees this
     * thread, or this thread sees that the tools do not want the event any more. */
    atomic_fetch_add(&inside->n, 1);
    return inside;
}

static inline void sxs_runtime_leave(struct sxs_inside *inside)
{
    atomic_fetch_sub_explicit(&inside->n, 1, memory_order_release);
}

/** Return a bit for each subscription that receives its events through the group's handlers. */
static inline uint64_t sxs_runtime_in_group(const struct sxs_runtime *rt)
{
    return atomic_load_explicit(&rt->in_group, memory_order_relaxed);
}

/** Return the group's handlers. Not NULL if a subscription that wants an event is in the group. */
static inline const struct sxs_group_events *sxs_runtime_group(const struct sxs_runtime *rt)
{
    return atomic_load_explicit(&rt->group, memory_order_relaxed);
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

/** Reasons why tools are off, for the user. */
struct sxs_reasons {
    char  *text; /* receives sentences; NULL: they are logged only */
    size_t size; /* bytes */
};

/** sxs_reasons_add - append a sentence. @why: NULL does nothing. */
void sxs_reasons_add(const struct sxs_reasons *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * sxs_runtime_subscribe - start the @n enabled @tools and add their masks to the runtime's event
 * mask. A tool that cannot start, or whose mask the runtime refuses, is left out, and one line is
 * logged.
 * @why: receives the reasons, too; or NULL.
 * Called in Initialize, and later with tools whose masks can be changed then. Returns S_OK.
 */
HRESULT sxs_runtime_subscribe(struct sxs_runtime *rt, const struct sxs_enabled_tool *tools, size_t n,
                              const struct sxs_reasons *why);

/** sxs_runtime_silence - deliver no more events to the subscriptions @bits, take their masks out of the
 *  runtime's event mask. Threads may still be inside of their handlers. */
void sxs_runtime_silence(struct sxs_runtime *rt, uint64_t bits);

/** sxs_runtime_stop - call stop() of the subscriptions @bits that were not stopped yet, the last one
 *  first. @how: SXS_STOP_SESSION... */
void sxs_runtime_stop(struct sxs_runtime *rt, uint64_t bits, int how);

/** sxs_runtime_drain - wait until each thread that delivers an event now has left. One thread at a
 *  time, and not inside of a handler. Returns 0, or -ETIMEDOUT after @limit_ns. */
int sxs_runtime_drain(struct sxs_runtime *rt, uint64_t limit_ns);

/** sxs_runtime_release - call release() of the subscriptions @bits, which were silenced and drained,
 *  the last one first. Their entries may be used again. */
void sxs_runtime_release(struct sxs_runtime *rt, uint64_t bits);

/** sxs_runtimes_known - list the runtimes that have subscriptions, also those that have ended.
 *  @out: receives up to @cap new references. *n_dying: receives the number of runtimes whose last
 *  reference is just being dropped. Returns the number of references. */
size_t sxs_runtimes_known(struct sxs_runtime **out, size_t cap, size_t *n_dying);

/** sxs_runtime_end - stop delivering events, call stop() of the runtime's tools, release the Info.
 *  @detached: 0 in Shutdown, 1 when the runtime must not be called any more.
 *  The Info is released when the last Info call in progress has returned. Idempotent. One thread at
 *  a time: under the lock of sessions.c. */
void sxs_runtime_end(struct sxs_runtime *rt, int detached);

#endif
