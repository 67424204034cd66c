/* SPDX-License-Identifier: MIT */
#include "tools/locks/waits.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/session_state.h"
#include "sampling/cost.h"
#include "tools/locks/pace.h"
#include "tools/locks/types.h"

#define MAX_OPEN 4096u

/* An event is delivered once for each session that enables it, at once. If a wait for the same lock
 * begins later than this after the last event of another, the other has ended by an exception,
 * about which there is no event. */
#define SAME_EVENT_NS 1000000u

/* Waits a second that are recorded, on average, and stacks of owners, which cost a signal. */
#define MAX_WAITS  10000u
#define MAX_OWNERS 1000u

/* A wait that has not ended. Only the waiting thread changes it; any thread may claim a free entry by its `tid`. */
struct open_wait {
    _Atomic uint32_t tid; /* 0: the entry is free */
    uint16_t         runtime;
    _Atomic uint64_t began_ns;
    /* NULL: not recorded, since there are too many, or since the file has no room. */
    _Atomic(struct sxs_record_cost *) record;
    struct sxs_record_total          *total; /* NULL: none */
    uint64_t                          lock;
    const void                       *data;
};

static struct open_wait waits[MAX_OPEN];
/* One more than the highest entry that was ever used. */
static _Atomic unsigned          n_used;
static SXS_TLS struct open_wait *own;    /* the thread's open wait; NULL: none */
static SXS_TLS unsigned          own_in; /* the session that `own` belongs to */
static SXS_TLS uint64_t          own_seen_ns; /* when its last event had been served */
static struct sxs_pace           waits_pace, owners_pace;
static int                       with_owners;
SXS_SESSION_RESETS(waits);
SXS_SESSION_RESETS(n_used);
SXS_SESSION_RESETS(waits_pace);
SXS_SESSION_RESETS(owners_pace);
SXS_SESSION_RESETS(with_owners);

void sxs_waits_init(int owners)
{
    with_owners = owners;
    sxs_pace_init(&waits_pace, MAX_WAITS);
    sxs_pace_init(&owners_pace, MAX_OWNERS);
}

SXS_SIGSAFE static struct open_wait *take_entry(uint32_t tid)
{
    for (unsigned i = 0; i < MAX_OPEN; i++) {
        struct open_wait *w = &waits[(tid + i) % MAX_OPEN];
        uint32_t          none = 0;
        unsigned          used = atomic_load(&n_used), need = (tid + i) % MAX_OPEN + 1;
        if (atomic_load(&w->tid) || !atomic_compare_exchange_strong(&w->tid, &none, tid))
            continue;
        while (used < need && !atomic_compare_exchange_weak(&n_used, &used, need)) {
        }
        return w;
    }
    return NULL;
}

/* Ends the calling thread's open wait. The record is taken out of the entry before its value
 * becomes final, see update_wait(). */
SXS_SIGSAFE static void close_wait(uint64_t ns, int is_known)
{
    struct open_wait       *w = own;
    struct sxs_record_cost *record = atomic_exchange(&w->record, NULL);
    uint64_t                counted = 0;
    if (record) {
        _Atomic uint64_t *value = (_Atomic uint64_t *)&record->value;
        counted = is_known ? atomic_exchange(value, ns) : atomic_load(value);
        record->flags &= (uint8_t)~SXS_COST_OPEN;
    }
    if (w->total && is_known)
        atomic_fetch_add(&w->total->value, ns - counted); /* wraps if it was counted too long */
    own = NULL;
    atomic_store(&w->tid, 0);
}

/* The class of a locked object: its first word, without the two bits that the runtime keeps there.
 * The thread is in cooperative mode, so no collection moves the object meanwhile. */
SXS_SIGSAFE static uint64_t class_of(const struct sxs_contention *what)
{
    uintptr_t class_id;
    if (!what->is_monitor)
        return SXS_CLASS_OF_LOCK;
    if (!what->object || what->object % sizeof(uintptr_t))
        return 0;
    SXS_GUARDED_LOAD(class_id, what->object, 0, gone);
    return class_id & ~(uintptr_t)7;
gone:
    return 0;
}

SXS_SIGSAFE static void record_owner(const struct sxs_cost *cost, uint64_t owner)
{
    double          n = with_owners && owner ? sxs_pace_take(&owners_pace) : 0;
    struct sxs_cost of_owner = {.kind = SXS_COST_LOCK_OWNER,
                                .related = cost->id,
                                .n = cost->n * n,
                                .name = cost->name,
                                .runtime = cost->runtime};
    if (n > 0)
        sxs_recorder_cost_by((uint32_t)owner, &of_owner);
}

SXS_SIGSAFE static struct sxs_record_cost *record_wait(const struct sxs_runtime    *rt,
                                                       const struct sxs_contention *what,
                                                       const struct sxs_lock_type  *type)
{
    struct sxs_cost cost = {.kind = SXS_COST_LOCK,
                            .flags = SXS_COST_OPEN,
                            .related = what->owner,
                            .name = type->name,
                            .runtime = (uint16_t)sxs_runtime_number(rt)};
    cost.n = sxs_pace_take(&waits_pace);
    if (cost.n <= 0)
        return NULL;
    cost.id = sxs_recorder_cost_id();
    record_owner(&cost, what->owner); /* first: the owner may release the lock soon */
    return sxs_recorder_cost_open(&cost, 0);
}

SXS_SIGSAFE static int is_same_event(const struct open_wait *w, const struct sxs_contention *what,
                                     const void *data, uint64_t now)
{
    return w->lock == what->lock && w->data == data &&
           now - own_seen_ns < SAME_EVENT_NS;
}

SXS_SIGSAFE void sxs_wait_begin(const struct sxs_runtime *rt, const struct sxs_contention *what,
                                const void *data)
{
    uint64_t             now = sxs_now_ns(CLOCK_MONOTONIC);
    uint64_t             class_id;
    struct sxs_lock_type type = {0};
    struct open_wait    *w;
    if (own_in != sxs_session_generation())
        own = NULL; /* its entry was that of a wait in another session */
    own_in = sxs_session_generation();
    if (own && is_same_event(own, what, data, now)) {
        own_seen_ns = now;
        return;
    }
    if (own)
        close_wait(0, 0);
    w = take_entry((uint32_t)syscall(SYS_gettid));
    if (!w)
        return;
    class_id = class_of(what);
    if (class_id)
        type = sxs_lock_type_find(sxs_runtime_number(rt), class_id);
    w->runtime = (uint16_t)sxs_runtime_number(rt);
    w->total = type.total;
    w->lock = what->lock;
    w->data = data;
    atomic_store(&w->began_ns, now);
    if (type.total)
        atomic_fetch_add(&type.total->n, 1);
    own = w;
    atomic_store(&w->record, record_wait(rt, what, &type));
    own_seen_ns = sxs_now_ns(CLOCK_MONOTONIC);
}

SXS_SIGSAFE void sxs_wait_end(const struct sxs_runtime *rt, uint64_t ns)
{
    if (own && own_in == sxs_session_generation() &&
        own->runtime == sxs_runtime_number(rt))
        close_wait(ns, 1);
}

/* The wait may end at any time. If it ends before its value is read here, its record is not in
 * the entry; if later, the value has changed, or is overwritten by the final one. */
static void update_wait(struct open_wait *w, uint64_t now)
{
    struct sxs_record_cost *record = atomic_load(&w->record);
    uint64_t                began = atomic_load(&w->began_ns), before;
    _Atomic uint64_t       *value;
    if (!record || now <= began)
        return;
    value = (_Atomic uint64_t *)&record->value;
    before = atomic_load(value);
    if (atomic_load(&w->record) != record || now - began <= before)
        return;
    if (atomic_compare_exchange_strong(value, &before, now - began) && w->total)
        atomic_fetch_add(&w->total->value, now - began - before);
}

void sxs_waits_update(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    unsigned n = atomic_load(&n_used);
    for (unsigned i = 0; i < n; i++)
        if (atomic_load(&waits[i].tid))
            update_wait(&waits[i], now);
}
