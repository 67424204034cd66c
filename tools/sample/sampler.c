/* SPDX-License-Identifier: MIT */
/* tools/sample/sampler.c - starts and ends sampling. It starts with the first picked runtime and
 * runs one service thread, which finds threads, starts their clocks, reserves space in the file
 * and names what was sampled. */
#include "tools/sample/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/guarded.h"
#include "base/loader.h"
#include "base/log.h"
#include "base/thread.h"
#include "session/write/session_write.h"
#include "tools/sample/clocks.h"
#include "tools/sample/code.h"
#include "tools/sample/handler.h"
#include "tools/sample/snapshot.h"
#include "tools/sample/stacks.h"
#include "stackwalk/fast/tables.h"
#include "tools/sample/threads.h"
#include "symbols/tier_sessions.h"
#include "symbols/tier_settings.h"
#include "stackwalk/fast/walkers.h"
#include "tools/sample/wall.h"
#include "signals/signals.h"

#define PERIOD_NS 20000000L /* period of the service thread while there is work */
/* The period where threads announce their starts themselves, and where samples are so few that
 * the reserved space is sufficient. */
#define CALM_NS 60000000L
#define CALM_HZ 1000u
/* The shorter period is used while a program starts, because it loads files, and their frames
 * cannot be unwound before the next round. */
#define EARLY_NS  UINT64_C(2000000000)
/* Longest period, when there is no work: each wake-up costs some 30 us of CPU. */
#define IDLE_NS   80000000L
#define NAMING_NS 80000000L /* between two rounds that look up samples and loaded files */
/* Maximum size of the samples file; when it is reached, samples are dropped and counted. */
#define MAX_BYTES \
    (UINT64_C(1) << 30)

static struct {
    pthread_mutex_t            lock;    /* guards started */
    int                        started; /* 1: sampling; -1: failed to start */
    struct sxs_samples_header *header;
    struct sxs_sampler         with;
    _Atomic int                forked;
    /* 1: the host uses all signals that could be the sample signal. */
    _Atomic int stopped;
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sampler.lock);

/* ---- threads --------------------------------------------------------------------------------- */

static void record_thread(struct sxs_sampled_thread *t, uint64_t ended_ns, uint64_t cpu_ns)
{
    struct sxs_record_thread *r = sxs_samples_reserve(sampler.with.writer, sizeof(*r));
    if (!r)
        return;
    r->tid = atomic_load(&t->tid);
    r->runtimes = atomic_load(&t->runtimes);
    r->started_ns = t->started_ns;
    r->ended_ns = ended_ns;
    r->cpu_ns = cpu_ns;
    memcpy(r->name, t->name, sizeof(r->name));
    sxs_samples_commit(r, SXS_RECORD_THREAD);
    t->recorded = 1;
}

/* Records the end of a thread. Short threads without samples are only counted, so that a process
 * that makes a thousand threads a second does not fill the file. */
static void record_end(struct sxs_sampled_thread *t, uint64_t cpu_ns)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    if (t->recorded || atomic_load(&t->last) || now - t->started_ns >= SXS_SHORT_NS) {
        record_thread(t, now, cpu_ns);
        return;
    }
    atomic_fetch_add(&sampler.header->n_short_threads, 1);
    atomic_fetch_add(&sampler.header->short_cpu_ns, cpu_ns);
}

static int at_work(void)
{
    return !atomic_load(&sampler.forked) && !atomic_load(&sampler.stopped);
}

static int start_clock(struct sxs_sampled_thread *t)
{
    if (t->excluded || atomic_load(&sampler.stopped) || sampler.with.options.mode != SXS_MODE_CPU ||
        sampler.with.options.walker == SXS_WALKER_SNAPSHOT)
        return 0;
    return sxs_clocks_start(t);
}

/* ---- on the sampled threads ------------------------------------------------------------------ */

static void thread_started(uintptr_t stack_lo, uintptr_t stack_hi)
{
    struct sxs_sampled_thread *t;
    if (!at_work() || !(t = sxs_threads_begin(stack_lo, stack_hi)))
        return;
    start_clock(t);
    sxs_threads_ready(t);
}

static void thread_ended(void)
{
    struct sxs_sampled_thread *t;
    if (atomic_load(&sampler.forked) || !(t = sxs_threads_finish()))
        return;
    sxs_clocks_stop(t);
    if (!t->excluded)
        record_end(t, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID));
    sxs_threads_release(t);
}

/* ---- on the service thread, for all other threads -------------------------------------------- */

static int some_came, some_went;

static int on_thread_begin(struct sxs_sampled_thread *t)
{
    some_came = 1;
    /* Nonzero: the thread has ended already, and its end was recorded by the thread itself. */
    return start_clock(t) != 0 && sxs_clocks_cpu_ns(atomic_load(&t->tid)) == 0;
}

static void on_thread_end(struct sxs_sampled_thread *t)
{
    some_went = 1;
    sxs_clocks_stop(t);
    if (!t->excluded)
        record_end(t, 0);
}

static void on_thread_seen(struct sxs_sampled_thread *t)
{
    sxs_clocks_check(t);
    sxs_clocks_move(t); /* if its slot was BUSY when the clocks were moved */
}

static void on_thread_renamed(struct sxs_sampled_thread *t)
{
    record_thread(t, 0, 0);
}

static int has_sampled(uint64_t *before)
{
    uint64_t now = atomic_load(&sampler.header->n_samples);
    int      more = now != *before;
    *before = now;
    return more;
}

static long next_period(long period, int busy)
{
    uint64_t age = sxs_now_ns(CLOCK_MONOTONIC) - sampler.header->started_ns;
    int      calm = sxs_signals()->preloaded && sampler.with.options.hz <= CALM_HZ && age > EARLY_NS;
    if (busy)
        return calm ? CALM_NS : PERIOD_NS;
    return period * 2 < IDLE_NS ? period * 2 : IDLE_NS;
}

static void list_loaded(int modules)
{
    sxs_loader_hold(); /* held for all of this, so that no fork happens in between */
    sxs_tables_refresh(); /* nearly free when nothing was loaded */
    if (modules)
        sxs_code_modules();
    sxs_loader_release();
}

/* Without this, threads are found by reading /proc/self/task only, and short ones only by
 * chance. */
static void watch_threads(void)
{
    static const struct sxs_thread_watch watch = {thread_started, thread_ended};
    sxs_signals()->watch_threads(&watch);
}

/* ---- the sample signal ----------------------------------------------------------------------- */

static void start_anew(struct sxs_sampled_thread *t)
{
    sxs_clocks_stop(t);
    start_clock(t);
}

/* Checks if the host has registered other handlers. If the library is not preloaded, the host
 * may replace the sample signal's handler, and those of the router, by which the walk recovers
 * from faults. */
static void check_signals(void)
{
    const struct sxs_signals *signals = sxs_signals();
    int                       sig = signals->check_samples();
    sxs_guarded_rely(signals->guard(sxs_guarded_code()) == 1);
    if (sig == sxs_clocks_signal() || atomic_load(&sampler.stopped))
        return;
    if (sig > 0) {
        sxs_clocks_use(sig);
    } else {
        sxs_handler_pause(1);
        atomic_store(&sampler.stopped, 1);
        sxs_warn(
            "tool sample: the program uses the signals SIGURG and SIGWINCH itself: no more samples "
            "are taken; start it with sxsprof run to have them");
    }
    sxs_threads_each_busy(start_anew);
}

/* Runs on the thread "sxsprof tiers". If threads are being watched, this thread was set up like
 * any other, so its clock is stopped here. Its sample signal stays blocked. */
static void serve_tier_sessions(void)
{
    struct sxs_sampled_thread *t;
    t = sxs_threads_finish();
    if (t) {
        sxs_clocks_stop(t);
        t->excluded = 1;
        sxs_threads_ready(t);
    }
    if (at_work())
        sxs_tier_sessions_run();
}

/* Starts a new thread each time, because it becomes one of the runtime's threads until it ends. */
static void start_tier_sessions(void)
{
    static const struct sxs_thread starting = {"sxsprof tiers", serve_tier_sessions};
    if (sxs_tier_sessions_due() && sxs_thread_start(&starting) != 0)
        sxs_tier_sessions_failed();
}

static void serve_tool(void)
{
    static const struct sxs_threads_events events = {
        on_thread_begin, on_thread_end, on_thread_renamed, on_thread_renamed, on_thread_seen};
    uint64_t                               n_samples = 0;
    long                                   period = PERIOD_NS, since_naming = NAMING_NS;
    sxs_stacks_refresh();
    list_loaded(0); /* before any clock runs, so that every sample has unwind tables */
    watch_threads();
    while (!atomic_load(&sampler.forked)) {
        some_came = some_went = 0;
        check_signals();
        sxs_threads_scan(&events);
        if (sxs_clocks_any_to_move())
            sxs_threads_each_busy(sxs_clocks_move);
        atomic_store(&sampler.header->n_unlisted, sxs_threads_unlisted());
        if (some_came || sxs_stacks_missed())
            sxs_stacks_refresh();
        if (sxs_samples_make_room(sampler.with.writer) != 0)
            sxs_warn("the samples file cannot grow: what comes from now on is dropped and counted");
        list_loaded(since_naming >= NAMING_NS);
        if (since_naming >= NAMING_NS) {
            since_naming = 0;
            sxs_code_catch_up();
        }
        start_tier_sessions();
        period = next_period(period, some_came || some_went || has_sampled(&n_samples));
        since_naming += period;
        nanosleep(&(struct timespec){0, period}, NULL);
    }
}

static void serve_wall(void)
{
    while (at_work())
        sxs_wall_tick();
}

static void serve_snapshot(void)
{
    while (at_work())
        sxs_snapshot_tick();
}

static const struct sxs_thread service = {"sxsprof", serve_tool},
                               wall = {"sxsprof wall", serve_wall},
                               snapshots = {"sxsprof snap", serve_snapshot};

/* ---- fork ------------------------------------------------------------------------------------ */

/* Per thread, because several threads may fork at once and the C library holds no lock then. */
static _Thread_local struct {
    sigset_t mask;
    int      is_blocked, holds_snapshots, holds_clocks;
} before_fork;

/* Prepares for a fork. The sample signal is blocked, because clone() may never succeed if that
 * signal arrives again and again. */
static void prepare_fork(void)
{
    sigset_t block;
    /* Otherwise the child might be left with suspended runtimes. */
    before_fork.holds_snapshots = sxs_snapshot_hold();
    sigemptyset(&block);
    sigaddset(&block, sxs_clocks_signal());
    before_fork.is_blocked = pthread_sigmask(SIG_BLOCK, &block, &before_fork.mask) == 0;
    /* Otherwise the child might inherit a descriptor that is in no slot. */
    before_fork.holds_clocks = sxs_clocks_hold_for_fork();
}

static void unblock_signal(void)
{
    if (before_fork.is_blocked)
        pthread_sigmask(SIG_SETMASK, &before_fork.mask, NULL);
    before_fork.is_blocked = 0;
}

static void parent_goes_on(void)
{
    if (before_fork.holds_clocks)
        sxs_clocks_release();
    unblock_signal();
    if (before_fork.holds_snapshots)
        sxs_snapshot_release();
}

static void child_goes_on(void)
{
    atomic_store(&sampler.forked, 1);
    sxs_handler_pause(1);
    sxs_samples_forget(sampler.with.writer);
    sxs_threads_each_slot(sxs_clocks_disown);
    sxs_threads_forget();
    unblock_signal();
}

/* ---- start and end --------------------------------------------------------------------------- */

static int start_sampling(void)
{
    static struct sxs_fork_part part = {prepare_fork, parent_goes_on, child_goes_on, NULL};
    const struct sxs_folder    *folder = sxs_session_folder("sample");
    int                         err;
    if (!folder)
        return -1;
    if (sxs_signals()->size <= offsetof(struct sxs_signals, unblock_samples)) {
        sxs_error("tool sample cannot start: the preloaded signal library is older than this one");
        return -1;
    }
    sampler.with.writer = sxs_samples_create(folder, MAX_BYTES);
    if (!sampler.with.writer) {
        sxs_error("tool sample: the samples file cannot be made: %s", strerror(errno));
        return -1;
    }
    sampler.header = sxs_samples_header(sampler.with.writer);
    sampler.header->mode = (uint16_t)sampler.with.options.mode;
    sampler.header->walker = (uint16_t)sampler.with.options.walker;
    sampler.header->asked_hz = sampler.with.options.hz;
    sampler.header->clock = sxs_clocks_choose(sampler.with.options.hz);
    sampler.header->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    sampler.header->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    if (sampler.with.options.tiers)
        sxs_tier_settings_read();
    memcpy(sampler.header->command, sxs_session_open(NULL)->command,
           sizeof(sampler.header->command));
    err = sxs_code_init(sampler.with.writer);
    if (!err)
        err = sxs_handler_install(sampler.with.writer, sampler.with.options.walker);
    if (!err)
        sxs_fork_register(&part);
    if (!err && sampler.with.options.walker == SXS_WALKER_SNAPSHOT) {
        sampler.header->clock = SXS_CLOCK_MONOTONIC;
        sxs_snapshot_init(sampler.with.writer, sampler.with.options.mode, sampler.with.options.hz);
        err = -sxs_thread_start(&snapshots);
    } else if (!err && sampler.with.options.mode == SXS_MODE_WALL) {
        sxs_wall_init(sampler.with.writer, sampler.with.options.hz);
        err = -sxs_thread_start(&wall);
    }
    /* Last, because from then on new threads are sampled, and the library's own threads must not
     * be. */
    if (!err)
        err = -sxs_thread_start(&service);
    if (err) {
        sxs_error("tool sample cannot start: %s", strerror(-err));
        sxs_handler_pause(1);
        return -1;
    }
    return 1;
}

__attribute__((destructor)) static void ended(void)
{
    if (sampler.started == 1 && !atomic_load(&sampler.forked))
        atomic_store(&sampler.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
}

const struct sxs_sampler *sxs_sampler_start(const char *text)
{
    char why[SXS_TOOL_WHY];
    int  ok;
    pthread_mutex_lock(&sampler.lock);
    if (!sampler.started) {
        sampler.started = -1;
        if (sxs_sampler_parse(text, &sampler.with.options, why, sizeof(why)) != 0)
            sxs_error("tool sample: %s", why);
        else
            sampler.started = start_sampling();
    }
    ok = sampler.started == 1;
    pthread_mutex_unlock(&sampler.lock);
    return ok ? &sampler.with : NULL;
}

const struct sxs_sampler *sxs_sampler(void)
{
    return &sampler.with;
}
