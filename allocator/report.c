/* SPDX-License-Identifier: MIT */
/* report.c - which allocations are reported, and the table for other libraries. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "allocator/internal.h"
#include "allocator/live.h"
#include "allocator/mappings.h"
#include "allocator/sampling.h"

/* While there is no listener, a thread looks for one after so many bytes: the most that it can
 * allocate unnoticed after there is one. */
#define IDLE_BYTES 4096u

SXS_TLS struct sxs_own sxs_own;

static const struct sxs_allocator_listener *_Atomic listener;
static _Atomic uint64_t                             base_interval; /* 0: there is no listener */
static _Atomic uint64_t                             n_reported, n_not_followed;

/* ---- the decision ---------------------------------------------------------------------------- */

static void draw(struct sxs_own *own)
{
    own->interval = own->base << own->pace.shift;
    own->remaining = sxs_sampling_draw(&own->random, own->interval);
}

/* Resets the state of the thread. Called when the listener has been set, removed or replaced. */
static void begin(struct sxs_own *own, uint64_t base)
{
    own->base = base;
    own->pace = (struct sxs_thread_pace){0};
    if (base)
        draw(own);
    else
        own->remaining = IDLE_BYTES;
}

/* The clock is read by a function that makes no system call. */
static uint64_t coarse_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int sxs_take(size_t bytes, double *n)
{
    uint64_t        base = atomic_load_explicit(&base_interval, memory_order_acquire);
    struct sxs_own *own = &sxs_own;
    if (own->inside)
        return 0;
    if (!base || own->base != base)
        begin(own, base);
    if (!base || sxs_pass(bytes))
        return 0;
    *n = sxs_sampling_weight(bytes, own->interval);
    if (base > 1) /* else all are wanted */
        sxs_pace_report(&own->pace, coarse_now());
    /* The distribution has no memory: the bytes of this allocation after the one that was taken may
     * be left out of account. */
    draw(own);
    return 1;
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Calls the listener. Returns the number of the allocation, or 0. */
static uint64_t report(struct sxs_allocation *a)
{
    const struct sxs_allocator_listener *to = atomic_load(&listener);
    uint64_t                             id;
    if (!to)
        return 0;
    sxs_own.inside++;
    id = to->allocated(a);
    sxs_own.inside--;
    atomic_fetch_add_explicit(&n_reported, 1, memory_order_relaxed);
    if (!a->followed)
        atomic_fetch_add_explicit(&n_not_followed, 1, memory_order_relaxed);
    return a->followed ? id : 0;
}

void sxs_report_block(const void *block, size_t bytes, double n, uintptr_t caller)
{
    int                   saved_errno = errno;
    int64_t               place = sxs_live_reserve(block);
    struct sxs_allocation a = {.bytes = bytes, .n = n, .caller = caller, .followed = place >= 0};
    uint64_t              id = report(&a);
    if (place >= 0)
        sxs_live_fill(place, block, id);
    errno = saved_errno;
}

void sxs_report_mapping(const void *at, size_t bytes, double n, uintptr_t caller)
{
    int                   saved_errno = errno;
    int64_t               place = sxs_mapping_reserve();
    struct sxs_allocation a = {
        .bytes = bytes, .n = n, .caller = caller, .mapped = 1, .followed = place >= 0};
    uint64_t id = report(&a);
    if (place >= 0)
        sxs_mapping_fill(place, (uintptr_t)at + sxs_sampling_below(&sxs_own.random, bytes), id);
    errno = saved_errno;
}

void sxs_report_freed(uint64_t id)
{
    const struct sxs_allocator_listener *to = id ? atomic_load(&listener) : NULL;
    int                                  saved_errno = errno;
    if (to && !sxs_own.inside) {
        sxs_own.inside++;
        to->freed(id);
        sxs_own.inside--;
    }
    errno = saved_errno;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int listen_for(const struct sxs_allocator_listener *to, uint64_t interval)
{
    const struct sxs_allocator_listener *none = NULL;
    if (!atomic_compare_exchange_strong(&listener, &none, to))
        return -1;
    sxs_live_clear(); /* what was reported to an earlier listener */
    sxs_mappings_clear();
    atomic_store_explicit(&base_interval, interval, memory_order_release);
    return 0;
}

static void leave(void)
{
    atomic_store(&base_interval, 0);
    atomic_store(&listener, NULL);
}

static void get_counts(struct sxs_allocator_counts *out)
{
    out->n_reported = atomic_load(&n_reported);
    out->n_not_followed = atomic_load(&n_not_followed);
}

static uint64_t get_remaining(void)
{
    return sxs_own.remaining;
}

const struct sxs_allocator *sxsprof_allocator_v1(void)
{
    static const struct sxs_allocator table = {
        listen_for, leave, get_counts, get_remaining, sxs_maps_elsewhere, sxs_mapped, sxs_unmapping,
    };
    return &table;
}
