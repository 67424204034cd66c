/* SPDX-License-Identifier: MIT */
/* tools/sample/handler.c - the sample signal's handler: takes the stack of the thread it runs
 * on. Async-signal-safe and limited in time: no lock, no allocation, no loader. Every read of
 * the stack lies between the interrupted stack pointer and the end of that stack, and recovers
 * if the memory is not readable (base/guarded.h).
 *
 * The handler runs on the stack of the interrupted code, which may be a coroutine's of a few
 * KiB. So large data is not on the stack (tools/sample/scratch.h). */
#include "tools/sample/handler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "tools/sample/clocks.h"
#include "tools/sample/scratch.h"
#include "tools/sample/stacks.h"
#include "stackwalk/snapshot/walk_request.h"
#include "stackwalk/fast/walkers.h"
#include "sxs_sonames.h"
#include "tools/sample/wall.h"
#include "signals/signals.h"

static struct {
    struct sxs_samples_writer *writer;
    struct sxs_samples_header *header;
    enum sxs_sample_walker     walker;
    sxs_find_code_fn           find_code; /* NULL if the router, which knows code ranges, is off */
    _Atomic int                paused;
} state;

#define WALK_CYCLES 1000000 /* the limit of a walk, some 0.3 ms */
#define SHORT_STACK 48u     /* frames of a walk for which no buffer is free */

/* A higher limit for requested walks, because the runtimes are stopped anyway. */
#define ANSWER_CYCLES (20 * WALK_CYCLES)

static const struct sxs_signals *signals; /* set before the handler is installed */

SXS_SIGSAFE static int find_code(uintptr_t ip, uintptr_t *start)
{
    (void)start;
    return signals->find_ip(ip) >= 0;
}

/* ---- the handler ----------------------------------------------------------------------------- */

SXS_SIGSAFE static void note_end(enum sxs_sample_end end)
{
    atomic_fetch_add_explicit(&state.header->n_ends[end], 1, memory_order_relaxed);
}

SXS_SIGSAFE static int on_alternate_stack(const ucontext_t *uc, uintptr_t sp)
{
    uintptr_t lo = (uintptr_t)uc->uc_stack.ss_sp;
    return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp >= lo && sp < lo + uc->uc_stack.ss_size;
}

/* Whether a load may fault while this thread is interrupted here. A fault whose signal is
 * blocked ends the process. */
SXS_SIGSAFE static int can_recover(const ucontext_t *uc)
{
    return sxs_guarded_relied() && !sigismember(&uc->uc_sigmask, SIGSEGV) &&
           !sigismember(&uc->uc_sigmask, SIGBUS);
}

/* Walks the stack. @limits: cycles and max are set, walk_stack() sets the rest. @sps: NULL, or
 * receives the frames' stack pointers; then the fast walker is used whatever was chosen. */
SXS_SIGSAFE static size_t walk_stack(struct sxs_sampled_thread *t, uint32_t tid, ucontext_t *uc,
                                     struct sxs_walk_limits limits, uintptr_t *ips, uintptr_t *sps,
                                     enum sxs_sample_end *end)
{
    uintptr_t sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    limits.find_code = state.find_code;
    ips[0] = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    if (sps)
        sps[0] = sp;
    *end = SXS_SAMPLE_END_ON_ALTSTACK;
    if (on_alternate_stack(uc, sp))
        return 1;
    *end = SXS_SAMPLE_END_OFF_STACK;
    limits.stack_lo = sp;
    switch (sxs_stacks_find(t, tid == state.header->pid, sp, &limits.stack_hi)) {
    case SXS_STACK_UNKNOWN: return 1;
    case SXS_STACK_OWN: break;
    case SXS_STACK_LISTED: limits.checked = !can_recover(uc); break;
    }
    return sps ? sxs_walk_fast_sps(uc, &limits, ips, sps, end)
               : sxs_walkers_walk(state.walker, uc, &limits, ips, end);
}

struct sample {
    struct sxs_sampled_thread *t; /* NULL: not known yet */
    uint32_t                   tid;
    uint64_t                   began, weight; /* ns */
    ucontext_t                *uc;
};

/* @ips: room for @max frames. */
SXS_SIGSAFE static void record(const struct sample *sample, uintptr_t *ips, size_t max)
{
    const struct sxs_walk_limits limits = {.cycles = WALK_CYCLES, .max = max};
    struct sxs_record_sample    *record;
    enum sxs_sample_end          end;
    size_t n = walk_stack(sample->t, sample->tid, sample->uc, limits, ips, NULL, &end);
    note_end(end);
    record = sxs_samples_reserve(state.writer, sizeof(*record) + n * sizeof(ips[0]));
    if (!record) {
        atomic_fetch_add_explicit(&state.header->n_dropped, 1, memory_order_relaxed);
        return;
    }
    record->time_ns = sample->began;
    record->weight_ns = sample->weight;
    record->tid = sample->tid;
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->ips, ips, n * sizeof(ips[0]));
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    if (sample->t)
        atomic_store_explicit(&sample->t->last, record, memory_order_release);
    atomic_fetch_add_explicit(&state.header->n_samples, 1, memory_order_relaxed);
}

/* Records a sample whose walk has no buffer: the youngest frames are kept in a small array on the
 * interrupted stack. Not inlined, so that other samples do not use that stack space. */
__attribute__((noinline)) SXS_SIGSAFE static void record_short(const struct sample *sample)
{
    uintptr_t ips[SHORT_STACK];
    record(sample, ips, SHORT_STACK);
}

SXS_SIGSAFE static void take_sample(const struct sample *sample)
{
    struct sxs_scratch *buffer = sxs_scratch_take(sample->tid);
    if (!buffer) {
        record_short(sample);
        return;
    }
    record(sample, buffer->ips, SXS_MAX_STACK);
    sxs_scratch_give_back(buffer);
}

/* Answers a request for this thread's stack. No sample is recorded. */
SXS_SIGSAFE static void serve_signal(struct sxs_sampled_thread *t, uint32_t tid, ucontext_t *uc)
{
    const struct sxs_walk_limits limits = {.cycles = ANSWER_CYCLES, .max = SXS_MAX_STACK};
    struct sxs_walk_answer      *answer = sxs_walk_request_take(tid);
    if (!answer)
        return; /* the request was withdrawn */
    answer->n = walk_stack(t, tid, uc, limits, answer->ips, answer->sps, &answer->end);
    sxs_walk_request_done(answer);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    int                        saved_errno = errno;
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_sampled_thread *t = sxs_threads_find(tid);
    uint64_t                   weight;
    if (!sxs_clocks_own(t, info, &weight)) {
        signals->pass_on_sample(sig, info, context);
    } else if (weight == SXS_CLOCKS_WALK) {
        serve_signal(t, tid, context);
    } else if (weight && !atomic_load_explicit(&state.paused, memory_order_relaxed)) {
        const struct sample sample = {.t = t,
                                      .tid = tid,
                                      .began = sxs_now_ns(CLOCK_MONOTONIC),
                                      .weight = weight,
                                      .uc = context};
        take_sample(&sample);
        atomic_fetch_add_explicit(&state.header->handler_ns,
                                  sxs_now_ns(CLOCK_MONOTONIC) - sample.began, memory_order_relaxed);
        if (t && state.header->mode == SXS_MODE_WALL)
            sxs_wall_taken(t);
    }
    errno = saved_errno;
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
    signals = sxs_signals();
    state.find_code = signals->off ? NULL : find_code;
    return signals->handle_samples(on_signal);
}

void sxs_handler_pause(int paused)
{
    atomic_store(&state.paused, paused);
}
