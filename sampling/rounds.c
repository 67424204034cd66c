/* SPDX-License-Identifier: MIT */
#include "sampling/rounds.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "sampling/sample_signal.h"
#include "sampling/sleeper.h"

static struct {
    struct sxs_samples_writer *writer;
    struct sxs_samples_header *header;
    uint64_t                   interval_ns;
    _Atomic int                any, is_refused; /* 1: a message said so */
} rounds;
SXS_SESSION_RESETS(rounds);

void sxs_rounds_init(struct sxs_samples_writer *w, unsigned hz)
{
    rounds.writer = w;
    rounds.header = sxs_samples_header(w);
    rounds.interval_ns = 1000000000u / hz;
}

static void note_error(_Atomic uint64_t *where, int err)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(where, &none, (uint64_t)err);
}

void sxs_rounds_take(struct sxs_thread_slot *t, uint64_t due_ns, int err)
{
    atomic_store(&t->round_due_ns, due_ns ? due_ns : 1);
    if (!rounds.header)
        return;
    if (!t->had_rounds)
        atomic_fetch_add(&rounds.header->n_without_clock, 1);
    t->had_rounds = 1;
    note_error(&rounds.header->without_clock_errno, err);
    if (!atomic_exchange(&rounds.any, 1))
        sxs_warn("tool sample: the system refuses timers for threads (%s): their CPU clocks are read "
                 "in rounds instead", err == EAGAIN ? "RLIMIT_SIGPENDING" : strerror(err));
}

void sxs_rounds_leave(struct sxs_thread_slot *t)
{
    atomic_store(&t->round_due_ns, 0);
}

int sxs_rounds_any(void)
{
    return atomic_load(&rounds.any);
}

int sxs_rounds_are_refused(void)
{
    return atomic_load(&rounds.is_refused);
}

void sxs_rounds_refused(int err)
{
    const int is_refusal = err != ESRCH && err != ENOTSUP; /* it has not ended; the host has not all signals */
    if (!is_refusal || !rounds.header)
        return;
    atomic_fetch_add(&rounds.header->n_signals_refused, 1);
    note_error(&rounds.header->signals_refused_errno, err);
    if (!atomic_exchange(&rounds.is_refused, 1))
        sxs_warn("the system refuses signals to threads (%s): they are not sampled", strerror(err));
}

/* A signal that comes while one is pending is lost, so a sample stands for all of requested_ns. */
static void look_at(struct sxs_thread_slot *t)
{
    uint64_t due = atomic_load(&t->round_due_ns), cpu, weight;
    int      err;
    if (!due || (cpu = sxs_cpu_ns_of(atomic_load(&t->tid))) < due)
        return;
    weight = ((cpu - due) / rounds.interval_ns + 1) * rounds.interval_ns;
    if (!atomic_compare_exchange_strong(&t->round_due_ns, &due, due + weight))
        return; /* the thread has a clock by now, or has ended */
    if (sxs_sleeper_take(rounds.writer, t, weight) > 0)
        return;
    atomic_fetch_add(&t->requested_ns, weight);
    err = sxs_sample_signal_send(atomic_load(&t->tid), 1);
    if (!err)
        return;
    sxs_sample_signal_answered(t, weight);
    sxs_rounds_refused(-err);
}

int sxs_rounds_tick(struct sxs_worker *worker)
{
    if (sxs_worker_pause(worker, rounds.interval_ns))
        return 1;
    sxs_threads_each(look_at);
    return 0;
}
