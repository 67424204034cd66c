/* SPDX-License-Identifier: MIT */
/*
 * handler.c - what happens on a thread when its time is up. Async-signal-safe and bounded: no lock, no
 * allocation, no loader; every read of the stack lies between the interrupted stack pointer and the
 * end of the mapping it is in.
 */
#include "sampler/handler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "manager/base/clock.h"
#include "sampler/clocks.h"
#include "sampler/walk_request.h"
#include "sampler/walkers.h"
#include "signals/signals.h"

static struct {
    struct sxs_samples_writer *writer;
    struct sxs_samples_header *header;
    enum sxs_sample_walker     walker;
    sxs_find_code_fn           find_code; /* NULL when the router, which knows, is off */
    struct sigaction           before;
    _Atomic int                paused;
} state;

#define WALK_CYCLES 1000000 /* a walk that takes longer, some 0.3 ms, is broken off */

#define ANSWER_CYCLES (20 * WALK_CYCLES) /* while everything is stopped anyway */

static const struct sxs_signals *signals; /* set before the handler is installed */

SXS_SIGSAFE static int find_code(uintptr_t ip, uintptr_t *start)
{
    (void)start;
    return signals->find_ip(ip) >= 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Writable mappings in order of address, in two generations: the handler uses the one published. */
#define MAX_MAPPINGS 16384
struct mappings {
    unsigned  n;
    uintptr_t lo[MAX_MAPPINGS], hi[MAX_MAPPINGS];
};
static struct mappings         kept[3];
static _Atomic unsigned        generation;
static _Atomic int             missed; /* a stack was not in it */

int sxs_handler_missed_stack(void)
{
    return atomic_exchange(&missed, 0);
}

static _Atomic uint64_t        looked_ns; /* when the one published was begun */

void sxs_handler_refresh_stacks(void)
{
    unsigned         next = atomic_load(&generation) + 1;
    struct mappings *m = &kept[next % 3];
    char             line[512];
    uint64_t         now = sxs_now_ns(CLOCK_MONOTONIC);
    FILE            *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    m->n = 0;
    while (m->n < MAX_MAPPINGS && fgets(line, sizeof(line), maps)) {
        unsigned long lo, hi;
        char          perms[8];
        if (sscanf(line, "%lx-%lx %7s", &lo, &hi, perms) != 3 || perms[0] != 'r' || perms[1] != 'w')
            continue;
        m->lo[m->n] = lo;
        m->hi[m->n++] = hi;
    }
    fclose(maps);
    atomic_store_explicit(&generation, next, memory_order_release);
    atomic_store(&looked_ns, now);
}

uint64_t sxs_handler_stacks_ns(void)
{
    return atomic_load(&looked_ns);
}

SXS_SIGSAFE static int look_up_stack(const struct mappings *m, uintptr_t sp, uintptr_t *lo,
                                     uintptr_t *hi)
{
    unsigned a = 0, b = m->n;
    while (a < b) {
        unsigned mid = (a + b) / 2;
        if (m->hi[mid] <= sp)
            a = mid + 1;
        else
            b = mid;
    }
    if (a >= m->n || m->lo[a] > sp) {
        atomic_store_explicit(&missed, 1, memory_order_relaxed);
        return 0;
    }
    *lo = m->lo[a];
    *hi = m->hi[a];
    return 1;
}

/* The C library keeps what it knows of a thread at the old end of that thread's stack. What lies beyond
 * is another's, though the kernel may tell of both as one mapping, and may be gone any moment. */
SXS_SIGSAFE static void end_at_own(uintptr_t sp, uintptr_t *hi)
{
    uintptr_t own = (uintptr_t)__builtin_thread_pointer();
    if (own > sp && own < *hi)
        *hi = own & ~(uintptr_t)15;
}

SXS_SIGSAFE static int find_stack(uintptr_t sp, uintptr_t *lo, uintptr_t *hi)
{
    unsigned now, seen = atomic_load(&generation);
    int      found;
    for (int i = 0; i < 3; i++) {
        found = look_up_stack(&kept[seen % 3], sp, lo, hi);
        atomic_thread_fence(memory_order_acquire);
        now = atomic_load(&generation);
        if (now - seen < 2) { /* else it was written anew while this thread did not run */
            if (found)
                end_at_own(sp, hi);
            return found;
        }
        seen = now;
    }
    return 0;
}

/* ---- the handler ------------------------------------------------------------------------------ */

SXS_SIGSAFE static void note_end(enum sxs_sample_end end)
{
    atomic_fetch_add_explicit(&state.header->n_ends[end], 1, memory_order_relaxed);
}

SXS_SIGSAFE static int on_alternate_stack(const ucontext_t *uc, uintptr_t sp)
{
    uintptr_t lo = (uintptr_t)uc->uc_stack.ss_sp;
    return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp >= lo && sp < lo + uc->uc_stack.ss_size;
}

/* Where the stack at @sp ends, into @limits; 0: not known. */
SXS_SIGSAFE static int bound(struct sxs_sampled_thread *t, uint32_t tid, uintptr_t sp,
                             struct sxs_walk_limits *limits)
{
    if (t)
        limits->stack_hi = atomic_load_explicit(&t->stack_hi, memory_order_relaxed);
    /* The first thread's stack grows: below what was seen, it is still the same. */
    if (t && sp < limits->stack_hi &&
        (sp >= atomic_load_explicit(&t->stack_lo, memory_order_relaxed) ||
         tid == state.header->pid)) {
        limits->stack_lo = sp;
        return 1;
    }
    if (!find_stack(sp, &limits->stack_lo, &limits->stack_hi))
        return 0;
    if (t) {
        atomic_store_explicit(&t->stack_lo, limits->stack_lo, memory_order_relaxed);
        atomic_store_explicit(&t->stack_hi, limits->stack_hi, memory_order_relaxed);
    }
    return 1;
}

/* @sps: NULL, or receives the frames' stack pointers; then the walker is always the fast one. */
SXS_SIGSAFE static size_t walk(struct sxs_sampled_thread *t, uint32_t tid, ucontext_t *uc,
                               uint64_t cycles, uintptr_t *ips, uintptr_t *sps,
                               enum sxs_sample_end *end)
{
    uintptr_t              sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    struct sxs_walk_limits limits = {.deadline_tsc = __rdtsc() + cycles,
                                     .max = SXS_MAX_STACK,
                                     .find_code = state.find_code};
    ips[0] = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    if (sps)
        sps[0] = sp;
    *end = SXS_SAMPLE_END_ON_ALTSTACK;
    if (on_alternate_stack(uc, sp))
        return 1;
    *end = SXS_SAMPLE_END_OFF_STACK;
    if (!bound(t, tid, sp, &limits))
        return 1;
    return sps ? sxs_walk_fast_sps(uc, &limits, ips, sps, end)
               : sxs_walkers_walk(state.walker, uc, &limits, ips, end);
}

SXS_SIGSAFE static void take(struct sxs_sampled_thread *t, uint32_t tid, uint64_t weight,
                             ucontext_t *uc, uint64_t began)
{
    uintptr_t                 ips[SXS_MAX_STACK];
    enum sxs_sample_end       end;
    struct sxs_record_sample *record;
    size_t                    n = walk(t, tid, uc, WALK_CYCLES, ips, NULL, &end);
    note_end(end);
    record = sxs_samples_reserve(state.writer, sizeof(*record) + n * sizeof(ips[0]));
    if (!record) {
        atomic_fetch_add_explicit(&state.header->n_dropped, 1, memory_order_relaxed);
        return;
    }
    record->time_ns = began;
    record->weight_ns = weight;
    record->tid = tid;
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->ips, ips, n * sizeof(ips[0]));
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    if (t)
        atomic_store_explicit(&t->last, record, memory_order_release);
    atomic_fetch_add_explicit(&state.header->n_samples, 1, memory_order_relaxed);
}

/* Someone waits for this thread's stack: it is theirs, no sample of its own. */
SXS_SIGSAFE static void serve(struct sxs_sampled_thread *t, uint32_t tid, ucontext_t *uc)
{
    struct sxs_walk_answer *answer = sxs_walk_request_take(tid);
    if (!answer)
        return; /* asked for and given up */
    answer->n = walk(t, tid, uc, ANSWER_CYCLES, answer->ips, answer->sps, &answer->end);
    sxs_walk_request_done(answer);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (state.before.sa_flags & SA_SIGINFO) {
        if (state.before.sa_sigaction)
            state.before.sa_sigaction(sig, info, context);
    } else if (state.before.sa_handler != SIG_DFL && state.before.sa_handler != SIG_IGN) {
        state.before.sa_handler(sig);
    }
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    int                        saved_errno = errno;
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_sampled_thread *t = sxs_threads_find(tid);
    uint64_t                   weight;
    if (!sxs_clocks_own(t, info, &weight)) {
        pass_on(sig, info, context);
    } else if (weight == SXS_CLOCKS_WALK) {
        serve(t, tid, context);
    } else if (weight && !atomic_load_explicit(&state.paused, memory_order_relaxed)) {
        uint64_t began = sxs_now_ns(CLOCK_MONOTONIC);
        take(t, tid, weight, context, began);
        atomic_fetch_add_explicit(&state.header->handler_ns, sxs_now_ns(CLOCK_MONOTONIC) - began, memory_order_relaxed);
    }
    errno = saved_errno;
}

int sxs_handler_install(struct sxs_samples_writer *w, enum sxs_sample_walker walker)
{
    struct sigaction act;
    state.writer = w;
    state.header = sxs_samples_header(w);
    state.walker = walker;
    sxs_walkers_prepare(walker);
    signals = sxs_signals();
    state.find_code = signals->off ? NULL : find_code;
    memset(&act, 0, sizeof(act));
    act.sa_sigaction = on_signal;
    act.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&act.sa_mask);
    return sigaction(SXS_SAMPLE_SIGNAL, &act, &state.before) == 0 ? 0 : -errno;
}

void sxs_handler_pause(int paused)
{
    atomic_store(&state.paused, paused);
}
