/* SPDX-License-Identifier: MIT */
/* sampling/wall.c - wall-clock samples. A thread whose CPU clock has moved since the last
 * round has run: it gets a signal. A thread whose CPU clock has not moved is still waiting at
 * the same place, so its last stack stands for that time as well: no signal is sent, however long
 * it sleeps. Where a signal would prolong its system call, none is sent at all (sleeper.h). A thread
 * whose stack was taken before it waited, or was not listed yet, gets up to AGAIN_MAX more signals.
 *
 * The weight of a sample is all time of its thread that no sample stands for yet. So the weights of a
 * thread add up to its life, also if rounds are late or signals are answered late: each interval of
 * it is claimed once (claim()), and then is in waited_ns or requested_ns until it is recorded. What is left at
 * its end is added to its last stack if it is short, and else counted as not sampled. */
#include "sampling/wall.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/session_state.h"
#include "sampling/clocks.h"
#include "sampling/rounds.h"
#include "sampling/sample_signal.h"
#include "sampling/sleeper.h"
#include "sampling/wait_reason.h"

#define RECORD_NS   100000000u  /* longest waiting time without a record */
#define LATE_MAX_NS 1000000000u /* a sample that is later stands for one interval alone */
/* A thread that has used less CPU time only left the handler and continued to wait. */
#define RAN_NS 20000u
/* How often in one wait a thread is asked for the place of it. */
#define AGAIN_MAX 4
/* How many intervals the last sample of a thread stands for at most, after its time. */
#define LAST_ROUNDS 2u

static struct sxs_samples_writer *writer;
static uint64_t                   interval_ns;
static _Atomic uint64_t           round_ns; /* read where a thread has ended, too */
static uint64_t                   due_ns; /* when the current round was due */
static _Atomic int                with_reasons;
SXS_SESSION_RESETS(writer);
SXS_SESSION_RESETS(interval_ns);
SXS_SESSION_RESETS(round_ns);
SXS_SESSION_RESETS(due_ns);
SXS_SESSION_RESETS(with_reasons);

void sxs_wall_ask_reasons(void)
{
    atomic_store(&with_reasons, 1);
}

void sxs_wall_init(struct sxs_samples_writer *w, unsigned hz)
{
    writer = w;
    interval_ns = 1000000000u / hz;
    due_ns = sxs_now_ns(CLOCK_MONOTONIC);
}

/* Records @waited ns at the latest stack of a thread, where it waits for @reason; SXS_RUNNING: it
 * runs. */
static void record_last(struct sxs_thread_slot *t, uint64_t waited, uint32_t reason)
{
    const struct sxs_record_sample *last = atomic_load_explicit(&t->last, memory_order_acquire);
    struct sxs_record_sample       *record;
    if (!waited)
        return;
    record = last ? sxs_samples_reserve(writer, last->head.size) : NULL;
    if (!record) {
        atomic_fetch_add(&sxs_samples_header(writer)->n_dropped, last != NULL);
        sxs_wall_give_back(t, waited);
        return;
    }
    record->time_ns = round_ns;
    record->weight_ns = waited;
    record->tid = last->tid;
    record->end = last->end;
    record->waiting = (uint8_t)reason;
    record->n = last->n;
    memcpy(record->ips, last->ips, last->head.size - sizeof(*last)); /* with its contexts */
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    atomic_fetch_add(&sxs_samples_header(writer)->n_samples, 1);
    atomic_fetch_add(&t->weighed_ns, waited);
}

static void record_waiting(struct sxs_thread_slot *t)
{
    uint32_t reason = atomic_load(&t->reason);
    record_last(t, atomic_exchange(&t->waited_ns, 0), reason ? reason : SXS_WAITS);
}

SXS_SIGSAFE void sxs_wall_give_back(struct sxs_thread_slot *t, uint64_t ns)
{
    atomic_fetch_add(&t->given_back_ns, ns);
}

/* Returns the time of a thread's life, up to @now, that nobody has claimed yet: the caller has it now.
 * The sums of the records do not show it, because time that is about to be recorded is not in them. */
static uint64_t claim(struct sxs_thread_slot *t, uint64_t now)
{
    uint64_t gone = atomic_load(&t->gone_ns), until = gone && gone < now ? gone : now;
    uint64_t before = atomic_load(&t->claimed_ns), from;
    do {
        from = before > t->started_ns ? before : t->started_ns;
        if (until <= from)
            return atomic_exchange(&t->given_back_ns, 0);
    } while (!atomic_compare_exchange_weak(&t->claimed_ns, &before, until));
    return until - from + atomic_exchange(&t->given_back_ns, 0);
}

/* The same for a sample of this round. What is more than some late rounds, as when the process was
 * stopped, is not sampled. */
static uint32_t claim_now(struct sxs_thread_slot *t)
{
    uint64_t due = claim(t, round_ns);
    if (due > LATE_MAX_NS) {
        atomic_fetch_add(&t->unsampled_ns, due - interval_ns);
        due = interval_ns;
    }
    return (uint32_t)due;
}

void sxs_wall_ended(struct sxs_thread_slot *t)
{
    uint64_t asked = atomic_exchange(&t->requested_ns, 0); /* no answer came */
    uint64_t rest = asked + claim(t, sxs_now_ns(CLOCK_MONOTONIC));
    int      waits = !asked && atomic_load(&t->waited_ns) != 0;
    if (!atomic_load(&t->last) || rest > LAST_ROUNDS * interval_ns)
        atomic_fetch_add(&t->unsampled_ns, rest);
    else if (waits)
        atomic_fetch_add(&t->waited_ns, rest);
    else
        record_last(t, rest, SXS_RUNNING);
    record_waiting(t);
    atomic_fetch_add(&t->unsampled_ns, atomic_exchange(&t->given_back_ns, 0)); /* no room */
}

/* Whether a thread that was interrupted at @uc waited in a system call: that is begun again, or has ended early. The
 * code is there, since it runs. */
SXS_SIGSAFE static int is_in_call(const ucontext_t *uc)
{
    const uint8_t *next = (const uint8_t *)sxs_context_ip(uc); // NOLINT(performance-no-int-to-ptr)
    size_t         in_page = (uintptr_t)next & 0xfff;
    if (in_page <= 0x1000 - SXS_SYSTEM_CALL_BYTES && sxs_is_system_call(next))
        return 1;
    return in_page >= SXS_SYSTEM_CALL_BYTES && sxs_context_result(uc) == -EINTR &&
           sxs_is_system_call(next - SXS_SYSTEM_CALL_BYTES);
}

/* A signal that comes while one is pending is lost, so the sample stands for all that was asked for. */
SXS_SIGSAFE uint64_t sxs_wall_asked(struct sxs_thread_slot *t)
{
    return atomic_exchange(&t->requested_ns, 0);
}

int sxs_wall_request(struct sxs_thread_slot *t, uint32_t weight)
{
    int err;
    atomic_fetch_add(&t->requested_ns, weight);
    err = sxs_sample_signal_send(atomic_load(&t->tid), weight);
    if (err) {
        sxs_wall_give_back(t, atomic_exchange(&t->requested_ns, 0));
        sxs_rounds_refused(-err);
    }
    return err;
}

/* A sample may cost its thread more than RAN_NS, with a deep stack or on a slow machine. If this
 * counted as work of the thread, it would cause another sample in each round. */
SXS_SIGSAFE void sxs_wall_taken(struct sxs_thread_slot *t, const ucontext_t *uc)
{
    const struct sxs_record_sample *last = atomic_load_explicit(&t->last, memory_order_relaxed);
    const int is_short = last && last->end == SXS_SAMPLE_END_OFF_STACK; /* of a new thread */
    atomic_store_explicit(&t->was_running, is_short || !is_in_call(uc), memory_order_relaxed);
    atomic_store_explicit(&t->cpu_ns, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID), memory_order_relaxed);
}

/* Sets t->cpu_ns unless the handler has changed it meanwhile, because the handler's value is
 * newer. */
static void move_clock(struct sxs_thread_slot *t, uint64_t before, uint64_t cpu)
{
    atomic_compare_exchange_strong(&t->cpu_ns, &before, cpu);
}

/* Whether a thread that has not run waits somewhere else than where its stack was taken: it went
 * into a system call since. Where it waits for a processor, its stack is as it was. */
static int waits_elsewhere(struct sxs_thread_slot *t)
{
    if (!atomic_load(&t->was_running) || t->n_again >= AGAIN_MAX)
        return 0;
    switch (sxs_wait_reason(atomic_load(&t->tid))) {
    case SXS_WAITS:
    case SXS_WAITS_PROCESSOR:
    case SXS_WAITS_DISK:
    case SXS_WAITS_STOPPED: return 0;
    default: t->n_again++; return 1;
    }
}

/* Asks for the reason of a wait, and again while that may have become another one: a thread that
 * waited for a processor goes on to wait for something else without having run for RAN_NS. @ran: its
 * CPU clock has moved. */
static void ask_reason(struct sxs_thread_slot *t, int ran)
{
    uint32_t before = atomic_load(&t->reason), now;
    if (before && before != SXS_WAITS_PROCESSOR && !ran)
        return;
    now = (uint32_t)sxs_wait_reason(atomic_load(&t->tid));
    if (before && before != now)
        record_waiting(t);
    atomic_store(&t->reason, now);
}

/* A thread that is found for the first time gets one signal, whether it runs or not, because its
 * stack is not known yet. */
uint32_t sxs_wall_due(struct sxs_thread_slot *t)
{
    uint64_t before = atomic_load(&t->cpu_ns), cpu = sxs_cpu_ns_of(atomic_load(&t->tid));
    int      known = atomic_load(&t->last) != NULL, waits = known && cpu < before + RAN_NS;
    if (!cpu)
        return 0;
    if (waits && !waits_elsewhere(t)) {
        move_clock(t, before, cpu);
        if (with_reasons)
            ask_reason(t, cpu != before);
        uint64_t more = claim_now(t), waited;
        waited = atomic_fetch_add(&t->waited_ns, more) + more;
        if (waited >= RECORD_NS)
            record_waiting(t);
        return 0;
    }
    record_waiting(t);
    atomic_store(&t->reason, 0);
    if (!waits)
        t->n_again = 0;
    move_clock(t, before, cpu);
    return claim_now(t);
}

static void look_at(struct sxs_thread_slot *t)
{
    uint32_t weight = sxs_wall_due(t);
    int      taken = weight ? sxs_sleeper_take(writer, t, weight) : 1;
    if (taken == 0)
        sxs_wall_request(t, weight);
    else if (taken != 1)
        sxs_wall_give_back(t, weight);
}

/* Missed rounds are not taken in a burst, because a running thread would look like a waiting one in
 * all but the first of them. */
void sxs_wall_begin(uint64_t now_ns)
{
    uint64_t n = now_ns > due_ns ? (now_ns - due_ns) / interval_ns : 0;
    round_ns = now_ns;
    if (n > LATE_MAX_NS / interval_ns) { /* the process was probably suspended */
        due_ns = now_ns;
    } else {
        n = n ? n : 1;
        due_ns += n * interval_ns;
    }
}

int sxs_wall_wait(struct sxs_worker *worker)
{
    uint64_t due = due_ns + interval_ns, now;
    while ((now = sxs_now_ns(CLOCK_MONOTONIC)) < due)
        if (sxs_worker_pause(worker, due - now))
            return 1;
    sxs_wall_begin(now);
    return sxs_worker_is_asked(worker);
}

int sxs_wall_tick(struct sxs_worker *worker)
{
    if (sxs_wall_wait(worker))
        return 1;
    sxs_threads_each(look_at);
    return 0;
}
