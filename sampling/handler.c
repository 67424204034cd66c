/* SPDX-License-Identifier: MIT */
/* sampling/handler.c - the sample signal's handler: takes the stack of the thread it runs
 * on (sampling/walk.h). Async-signal-safe and limited in time: no lock, no allocation, no
 * loader.
 *
 * The handler runs on the stack of the interrupted code, which may be a coroutine's of a few
 * KiB. So large data is not on the stack (sampling/scratch.h). */
#include "sampling/handler.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "sampling/activities.h"
#include "sampling/clocks.h"
#include "sampling/sample_signal.h"
#include "sampling/scratch.h"
#include "sampling/walk.h"
#include "sampling/wall.h"
#include "stackwalk/fast/walkers.h"
#include "sxs_sonames.h"

static struct {
    struct sxs_samples_writer *writer;
    struct sxs_samples_header *header;
    enum sxs_sample_walker     walker;
    _Atomic int                paused;
} state;
SXS_SESSION_RESETS(state); /* after sxs_sample_signal_end() */

#define SHORT_STACK 48u /* frames of a walk for which no buffer is free */

/* ---- the handler ----------------------------------------------------------------------------- */

SXS_SIGSAFE static void note_end(enum sxs_sample_end end)
{
    atomic_fetch_add_explicit(&state.header->n_ends[end], 1, memory_order_relaxed);
}

struct handled_sample {
    struct sxs_thread_slot *t; /* NULL: not known yet */
    uint32_t                   tid;
    uint64_t                   began, weight; /* ns */
    ucontext_t                *uc;
};

/* The contexts of a sample. */
struct contexts {
    size_t                    n;
    struct sxs_sample_context all[SXS_SLOT_RUNTIMES];
};

SXS_SIGSAFE static void find_contexts(const struct handled_sample *sample, struct contexts *out)
{
    unsigned missed;
    out->n = 0;
    if (!state.header->has_contexts || !sample->t)
        return;
    out->n = sxs_activities_look(sample->t, out->all, &missed);
    if (out->n)
        atomic_fetch_add_explicit(&state.header->n_contexts, out->n, memory_order_relaxed);
    if (missed)
        atomic_fetch_add_explicit(&state.header->n_contexts_missed, missed, memory_order_relaxed);
}

/* @ips: room for @max frames. */
SXS_SIGSAFE static void record(const struct handled_sample *sample, uintptr_t *ips, size_t max)
{
    const struct sxs_walk_limits limits = {.cycles = SXS_WALK_CYCLES, .max = max};
    struct sxs_record_sample    *record;
    struct contexts              contexts;
    enum sxs_sample_end          end;
    size_t n = sxs_walk_interrupted(sample->t, sample->tid, state.walker, sample->uc, limits, ips,
                                    NULL, &end);
    note_end(end);
    find_contexts(sample, &contexts);
    record = sxs_samples_reserve(state.writer, sizeof(*record) + n * sizeof(ips[0]) +
                                                   contexts.n * sizeof(contexts.all[0]));
    if (!record) {
        atomic_fetch_add_explicit(&state.header->n_dropped, 1, memory_order_relaxed);
        if (sample->t && state.header->mode == SXS_MODE_WALL)
            sxs_wall_give_back(sample->t, sample->weight);
        return;
    }
    record->time_ns = sample->began;
    record->weight_ns = sample->weight;
    record->tid = sample->tid;
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->ips, ips, n * sizeof(ips[0]));
    memcpy(&record->ips[n], contexts.all, contexts.n * sizeof(contexts.all[0]));
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    if (sample->t)
        atomic_fetch_add_explicit(&sample->t->weighed_ns, sample->weight, memory_order_relaxed);
    if (sample->t)
        atomic_store_explicit(&sample->t->last, record, memory_order_release);
    atomic_fetch_add_explicit(&state.header->n_samples, 1, memory_order_relaxed);
}

/* Records a sample whose walk has no buffer: the youngest frames are kept in a small array on the
 * interrupted stack. Not inlined, so that other samples do not use that stack space. */
__attribute__((noinline)) SXS_SIGSAFE static void record_short(const struct handled_sample *sample)
{
    uintptr_t ips[SHORT_STACK];
    record(sample, ips, SHORT_STACK);
}

SXS_SIGSAFE static void take_sample(const struct handled_sample *sample)
{
    struct sxs_scratch *buffer = sxs_scratch_take(sample->tid);
    if (!buffer) {
        record_short(sample);
        return;
    }
    record(sample, buffer->ips, SXS_MAX_STACK);
    sxs_scratch_give_back(buffer);
}

/* Called by the recorder's handler of the sample signal. */
SXS_SIGSAFE static int on_signal(struct sxs_thread_slot *t, siginfo_t *info, uint64_t weight,
                                 void *context)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    if (!weight && !sxs_clocks_own(t, info, &weight))
        return 0;
    if (weight && state.header->mode == SXS_MODE_WALL) /* no slot: its whole time is accounted for */
        weight = t ? sxs_wall_asked(t) : 0;
    else if (weight && t && atomic_load_explicit(&t->round_due_ns, memory_order_relaxed))
        weight = atomic_exchange(&t->requested_ns, 0);
    if (weight && atomic_load_explicit(&state.paused, memory_order_relaxed)) {
        if (t && state.header->mode == SXS_MODE_WALL)
            sxs_wall_give_back(t, weight);
    } else if (weight) {
        const struct handled_sample sample = {.t = t,
                                              .tid = tid,
                                              .began = sxs_now_ns(CLOCK_MONOTONIC),
                                              .weight = weight,
                                              .uc = context};
        take_sample(&sample);
        atomic_fetch_add_explicit(&state.header->handler_ns,
                                  sxs_now_ns(CLOCK_MONOTONIC) - sample.began, memory_order_relaxed);
        if (t && state.header->mode == SXS_MODE_WALL)
            sxs_wall_taken(t, context);
    }
    return 1;
}

int sxs_handler_install(struct sxs_samples_writer *w, enum sxs_sample_walker walker)
{
    state.writer = w;
    state.header = sxs_samples_header(w);
    state.walker = walker;
    if (sxs_walkers_prepare(walker) != 0) {
        sxs_warn("tool sample: walker=unwind: %s cannot be loaded; the fast walker is used",
                 SXS_LIBUNWIND_REMOTE_SONAME);
        state.walker = SXS_WALKER_FAST;
        state.header->walker = SXS_WALKER_FAST;
    }
    sxs_sample_signal_handle(on_signal);
    return sxs_sample_signal_install();
}

void sxs_handler_pause(int paused)
{
    atomic_store(&state.paused, paused);
}
