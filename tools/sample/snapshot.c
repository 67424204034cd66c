/* SPDX-License-Identifier: MIT */
/* tools/sample/snapshot.c - the rounds of the walker "snapshot": find the threads that are due,
 * suspend the runtimes, take the stacks, resume.
 *
 * A stopped thread holds no lock that walking needs: runtimes stop their threads at safe points
 * of managed code, never inside malloc or the loader, and native code keeps running. snap.lock
 * is held throughout a suspension. Callbacks that runtimes make from managed code do not take
 * it, so a suspension never waits for a thread that waits for the lock. */
#include "tools/sample/snapshot.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/task.h"
#include "base/timed_wait.h"
#include "sampling/clocks.h"
#include "sampling/sample_signal.h"
#include "sampling/stacks.h"
#include "sampling/wall.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/snapshot/dispatch.h"
#include "stackwalk/snapshot/stopped.h"

#define TRIES            5
#define BETWEEN_TRIES_US 200
/* If a thread used less CPU time, that was only the cost of checking it. */
#define RAN_NS           20000u
#define END_LIMIT_NS     UINT64_C(5000000000)

static struct {
    pthread_mutex_t            lock; /* held while any runtime is suspended */
    struct sxs_samples_writer *writer;
    enum sxs_sample_mode       mode;
    int                        rounds;
    int                        ending; /* 1: the process ends, so nothing is suspended any more */
    /* bit N: runtime N cannot be suspended, and the warning was printed */
    uint64_t                   old;
    struct sxs_stopped         stopped[64];
    size_t                     n_stopped;
    struct due {
        struct sxs_thread_slot *t;
        struct sxs_due             walk;
    } due[SXS_MAX_THREADS];
    size_t                     n_due;
} snap = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(snap.lock);
SXS_SESSION_RESETS(snap);

/* ---- threads that are due -------------------------------------------------------------------- */

/* Returns the thread's CPU time since its last sample, or 0 if it is not due. CPU time from
 * before the first round is not counted. */
static uint64_t cpu_due(struct sxs_thread_slot *t)
{
    uint64_t cpu = sxs_cpu_ns_of(atomic_load(&t->tid)), before = atomic_load(&t->cpu_ns);
    if (snap.rounds == 1) {
        atomic_store(&t->cpu_ns, cpu);
        return 0;
    }
    return cpu > before + RAN_NS ? cpu - before : 0;
}

static void look_at(struct sxs_thread_slot *t)
{
    uint64_t weight;
    uint32_t tid = atomic_load(&t->tid);
    /* Its stack is not in the list yet; it will be soon. */
    if (t->started_ns >= sxs_stacks_ns())
        return;
    weight = snap.mode == SXS_MODE_WALL ? sxs_wall_due(t) : cpu_due(t);
    /* If the thread ends before it is stopped, the rest of its life has this time. */
    if (snap.mode == SXS_MODE_WALL)
        atomic_fetch_add(&t->requested_ns, weight);
    if (weight && snap.n_due < SXS_MAX_THREADS)
        snap.due[snap.n_due++] = (struct due){t, {tid, weight, sxs_task_state(tid), t->missed}};
}

/* ---- suspending ------------------------------------------------------------------------------ */

static HRESULT suspend_runtime(struct sxs_runtime *rt)
{
    HRESULT hr = sxs_runtime_suspend(rt);
    for (int i = 1; i < TRIES && hr == CORPROF_E_SUSPENSION_IN_PROGRESS; i++) {
        usleep(BETWEEN_TRIES_US);
        hr = sxs_runtime_suspend(rt);
    }
    return hr;
}

/* Warns if the runtime is too old to be suspended. Called before any runtime is stopped, because
 * the reader of the message may be in this process. */
static void say_if_old(const struct sxs_runtime *rt)
{
    uint64_t bit = UINT64_C(1) << (sxs_runtime_number(rt) & 63);
    if (sxs_runtime_has(rt, SXS_INFO_SUSPEND) || (snap.old & bit))
        return;
    snap.old |= bit;
    sxs_warn(
        "walker snapshot: runtime %u (%s) cannot be suspended, which came with 3.0: its frames "
        "come from the native walk alone",
        sxs_runtime_number(rt), sxs_runtime_version(rt));
}

static void prepare_runtime(struct sxs_runtime *rt)
{
    say_if_old(rt);
    sxs_info_InitializeCurrentThread(rt);
    sxs_dispatch_learn(rt);
}

static void suspend_all(void)
{
    struct sxs_runtime *rts[ARRAY_LEN(snap.stopped)];
    size_t              n = sxs_runtimes_live(rts, ARRAY_LEN(rts));
    snap.n_stopped = 0;
    sxs_tables_refresh(); /* takes the loader's lock, so nothing may be stopped yet */
    for (size_t i = 0; i < n; i++)
        if (sxs_runtime_is_picked(rts[i]))
            prepare_runtime(rts[i]); /* before any runtime is stopped */
    for (size_t i = 0; i < n; i++) {
        struct sxs_stopped *s = &snap.stopped[snap.n_stopped];
        HRESULT             hr = sxs_runtime_is_picked(rts[i]) ? suspend_runtime(rts[i]) : E_FAIL;
        if (hr == S_OK) {
            s->rt = rts[i]; /* takes over the reference */
            snap.n_stopped++;
            continue;
        }
        if (sxs_runtime_is_picked(rts[i]) && hr != E_NOTIMPL)
            atomic_fetch_add(&sxs_samples_header(snap.writer)->n_compared[SXS_COMPARED_BUSY], 1);
        sxs_runtime_unref(rts[i]);
    }
}

static void resume_all(void)
{
    while (snap.n_stopped > 0) {
        struct sxs_stopped *s = &snap.stopped[--snap.n_stopped];
        HRESULT             hr = sxs_runtime_resume(s->rt);
        if (FAILED(hr))
            sxs_error("walker snapshot: runtime %u did not resume (0x%08x)",
                      sxs_runtime_number(s->rt), (unsigned)hr);
        sxs_runtime_unref(s->rt);
        s->rt = NULL;
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int ask_thread(uint32_t tid)
{
    return sxs_sample_signal_send(tid, SXS_SAMPLE_SIGNAL_WALK);
}

static void take_snapshot(struct due *due)
{
    uint32_t                  tid = due->walk.tid;
    struct sxs_record_sample *record;
    /* Includes the CPU time used until the thread was stopped. */
    if (snap.mode == SXS_MODE_CPU)
        due->walk.weight_ns = sxs_cpu_ns_of(tid) - atomic_load(&due->t->cpu_ns);
    else if (!(due->walk.weight_ns = sxs_wall_asked(due->t)))
        return; /* it has ended */
    record = sxs_stopped_take(snap.writer, snap.stopped, snap.n_stopped, &due->walk, ask_thread);
    if (record) {
        atomic_store_explicit(&due->t->last, record, memory_order_release);
        atomic_fetch_add(&due->t->weighed_ns, record->weight_ns);
    } else if (snap.mode == SXS_MODE_WALL) {
        sxs_wall_give_back(due->t, due->walk.weight_ns);
    }
    due->t->missed = due->walk.missed;
    /* The CPU time that the sample itself cost is not counted. */
    atomic_store(&due->t->cpu_ns, sxs_cpu_ns_of(tid));
}

static void take_all(void)
{
    for (size_t i = 0; i < snap.n_stopped; i++)
        sxs_stopped_list(&snap.stopped[i]);
    for (size_t i = 0; i < snap.n_due; i++)
        if (atomic_load(&snap.due[i].t->tid) == snap.due[i].walk.tid) /* the thread has not ended */
            take_snapshot(&snap.due[i]);
}

/* The program runs for as long as it was stopped before it is stopped again. On a busy machine a stop
 * takes longer than the interval, and the program's threads would get no processor between two of them. */
static void rest(uint64_t stopped_ns)
{
    struct timespec time = sxs_timespec_of(stopped_ns);
    nanosleep(&time, NULL);
}

int sxs_snapshot_tick(struct sxs_worker *worker)
{
    uint64_t began, ended;
    if (sxs_wall_wait(worker))
        return 1;
    snap.n_due = 0;
    snap.rounds++;
    sxs_threads_each(look_at);
    if (!snap.n_due)
        return 0;
    pthread_mutex_lock(&snap.lock);
    began = sxs_now_ns(CLOCK_MONOTONIC);
    if (!snap.ending) {
        suspend_all();
        take_all();
        resume_all();
    }
    ended = sxs_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&snap.lock);
    rest(ended - began);
    return 0;
}

int sxs_snapshot_hold(void)
{
    return sxs_fork_take(&snap.lock);
}

void sxs_snapshot_release(void)
{
    pthread_mutex_unlock(&snap.lock);
}

/* The wait is limited, so that the host's shutdown proceeds even if a suspension does not end. */
void sxs_snapshot_ended(void)
{
    if (sxs_mutex_lock_within(&snap.lock, END_LIMIT_NS) == 0)
        pthread_mutex_unlock(&snap.lock);
}

/* Runs before the runtimes' own destructors, which may need their threads to run. */
static void process_ends(void)
{
    if (sxs_mutex_lock_within(&snap.lock, END_LIMIT_NS) == 0) {
        snap.ending = 1;
        pthread_mutex_unlock(&snap.lock);
    }
}

void sxs_snapshot_init(struct sxs_samples_writer *w, enum sxs_sample_mode mode, unsigned hz)
{
    static int is_registered;
    SXS_SESSION_KEEPS(is_registered);
    snap.writer = w;
    snap.mode = mode;
    sxs_wall_init(w, hz);
    if (!is_registered)
        is_registered = atexit(process_ends) == 0;
}
