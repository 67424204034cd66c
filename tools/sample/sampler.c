/* SPDX-License-Identifier: MIT */
/* tools/sample/sampler.c - starts and ends sampling: a clock for each thread that the recorder
 * finds, or a thread that takes wall-clock samples or snapshots. */
#include "tools/sample/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "sampling/activities.h"
#include "sampling/clocks.h"
#include "sampling/handler.h"
#include "sampling/recorder.h"
#include "sampling/rounds.h"
#include "sampling/sample_signal.h"
#include "sampling/wall.h"
#include "signals/signals.h"
#include "symbols/tier_sessions.h"
#include "symbols/tier_settings.h"
#include "tools/options/wait_options.h"
#include "tools/sample/snapshot.h"

/* From this rate on, the file needs room more often than it gets it otherwise. */
#define FREQUENT_HZ 1000u

static struct {
    pthread_mutex_t    lock;    /* guards started and is_reported */
    int                started; /* 1: sampling; -1: failed to start */
    int                is_reported; /* 1: a message said that a tool is off */
    struct sxs_sampler with;
    /* 1: the host uses all signals that could be the sample signal, or the session ends. */
    _Atomic int       stopped;
    /* The thread that takes wall-clock samples or snapshots, or samples threads without a clock. */
    struct sxs_worker rounds;
    int               has_rounds; /* 1: it was started for threads without a clock; under lock */
    struct sxs_worker tiers;  /* the thread that starts sessions; under lock */
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sampler.lock);
SXS_SESSION_RESETS(sampler);

static int at_work(void)
{
    return sxs_recorder_is_on() && !atomic_load(&sampler.stopped);
}

/* ---- the clocks of threads ------------------------------------------------------------------- */

static int start_clock(struct sxs_thread_slot *t)
{
    if (t->excluded || atomic_load(&sampler.stopped) || sampler.with.options.mode != SXS_MODE_CPU ||
        sampler.with.options.walker == SXS_WALKER_SNAPSHOT)
        return 0;
    return sxs_clocks_start(t);
}

static int samples_cpu(void)
{
    return sampler.with.options.mode == SXS_MODE_CPU &&
           sampler.with.options.walker != SXS_WALKER_SNAPSHOT;
}

/* Samples of a thread by CPU time stand for all of its CPU time, with an error of about one interval, unless
 * the thread blocks the signal, or the system refuses what is needed. */
#define SLACK_INTERVALS 3u
#define SLACK_NS        20000000u

/* Sets how much of the CPU time of a thread, which ends or of which the session ends, no sample
 * stands for, if that is most of it, or signals to it were refused. */
static void count_missing(struct sxs_thread_slot *t)
{
    uint64_t cpu = atomic_load(&t->gone_ns) ? t->end_cpu_ns : sxs_cpu_ns_of(atomic_load(&t->tid));
    uint64_t ran, sampled, missing;
    if (!cpu)
        cpu = atomic_load(&t->cpu_ns);
    ran = cpu > t->began_cpu_ns ? cpu - t->began_cpu_ns : 0;
    sampled = atomic_load(&t->weighed_ns);
    missing = ran > sampled ? ran - sampled : 0;
    if ((t->had_rounds && sxs_rounds_are_refused()) ||
        (missing > ran / 2 &&
         missing > SLACK_INTERVALS * (1000000000u / sampler.with.options.hz) + SLACK_NS))
        atomic_store(&t->unsampled_ns, missing);
}

static int on_thread_begin(struct sxs_thread_slot *t)
{
    if (samples_cpu())
        t->began_cpu_ns = sxs_cpu_ns_of(atomic_load(&t->tid));
    return start_clock(t) != 0 && sxs_cpu_ns_of(atomic_load(&t->tid)) == 0;
}

static void on_thread_seen(struct sxs_thread_slot *t)
{
    sxs_clocks_check(t);
    sxs_clocks_move(t); /* if its slot was BUSY when the clocks were moved */
    if (samples_cpu())
        atomic_store(&t->cpu_ns, sxs_cpu_ns_of(atomic_load(&t->tid)));
}

static void on_thread_end(struct sxs_thread_slot *t)
{
    if (sampler.with.options.mode == SXS_MODE_WALL)
        sxs_wall_ended(t);
    else if (samples_cpu())
        count_missing(t);
    sxs_clocks_stop(t);
}

/* Of a thread that lives on. */
static void end_living(struct sxs_thread_slot *t)
{
    if (!t->begun || t->excluded)
        return;
    if (sampler.with.options.mode == SXS_MODE_WALL)
        sxs_wall_ended(t);
    else if (samples_cpu())
        count_missing(t);
}

static void start_anew(struct sxs_thread_slot *t)
{
    if (!t->begun)
        return;
    sxs_clocks_stop(t);
    start_clock(t);
}

static void on_signal_changed(int lost)
{
    if (lost) {
        sxs_handler_pause(1);
        atomic_store(&sampler.stopped, 1);
        sxs_warn("tool sample: the program uses all signals that samples could come with "
                 "(SIGSTKFLT, SIGURG, "
                 "SIGWINCH) itself: no more samples are taken; start it with sxsprof to have them");
    }
    sxs_threads_each_busy(start_anew);
}

/* ---- threads of the tool --------------------------------------------------------------------- */

/* Runs on the thread "sxsprof tiers". */
static void serve_tier_sessions(void)
{
    sxs_recorder_leave_out();
    if (at_work())
        sxs_tier_sessions_run();
}

/* Starts a new thread each time, because it becomes one of the runtime's threads until it ends. */
static void start_tier_sessions(void)
{
    static const struct sxs_thread starting = {"sxsprof tiers", serve_tier_sessions};
    pthread_mutex_lock(&sampler.lock);
    if (!atomic_load(&sampler.stopped) && sxs_tier_sessions_due() &&
        sxs_worker_start(&sampler.tiers, &starting) != 0)
        sxs_tier_sessions_failed();
    pthread_mutex_unlock(&sampler.lock);
}

static void serve_wall(void)
{
    sxs_recorder_leave_out();
    while (at_work() && !sxs_wall_tick(&sampler.rounds))
        continue;
}

static void serve_snapshot(void)
{
    sxs_recorder_leave_out();
    while (at_work() && !sxs_snapshot_tick(&sampler.rounds))
        continue;
}

static void serve_rounds(void)
{
    sxs_recorder_leave_out();
    while (at_work() && !sxs_rounds_tick(&sampler.rounds))
        continue;
}

static const struct sxs_thread wall = {"sxsprof wall", serve_wall},
                               snapshots = {"sxsprof snap", serve_snapshot},
                               rounds = {"sxsprof rounds", serve_rounds};

/* Starts the thread that samples threads without a clock, when there is such a thread. */
static void start_rounds(void)
{
    pthread_mutex_lock(&sampler.lock);
    if (!sampler.has_rounds && sxs_rounds_any() && !atomic_load(&sampler.stopped)) {
        int err = sxs_worker_start(&sampler.rounds, &rounds);
        if (err)
            sxs_warn("tool sample: threads without a clock are not sampled: %s", strerror(err));
        sampler.has_rounds = 1;
    }
    pthread_mutex_unlock(&sampler.lock);
}

static void on_round(void)
{
    if (sxs_clocks_any_to_move())
        sxs_threads_each_busy(sxs_clocks_move);
    start_rounds();
    start_tier_sessions();
    if (sampler.with.options.trace && !atomic_load(&sampler.stopped))
        sxs_activities_round();
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* Per thread, because several threads may fork at once and the C library holds no lock then. */
static _Thread_local struct {
    sigset_t mask;
    int      is_blocked, holds_snapshots;
} before_fork;

/* Prepares for a fork. The sample signal is blocked, because clone() may never succeed if that
 * signal arrives again and again. */
static void prepare_fork(void)
{
    sigset_t block;
    /* Otherwise the child might be left with suspended runtimes. */
    before_fork.holds_snapshots = sxs_snapshot_hold();
    sigemptyset(&block);
    sigaddset(&block, sxs_sample_signal_number());
    before_fork.is_blocked = pthread_sigmask(SIG_BLOCK, &block, &before_fork.mask) == 0;
}

static void unblock_signal(void)
{
    if (before_fork.is_blocked)
        pthread_sigmask(SIG_SETMASK, &before_fork.mask, NULL);
    before_fork.is_blocked = 0;
}

static void parent_goes_on(void)
{
    unblock_signal();
    if (before_fork.holds_snapshots)
        sxs_snapshot_release();
}

static void child_goes_on(void)
{
    sxs_handler_pause(1);
    sxs_threads_each_slot(sxs_clocks_disown);
    unblock_signal();
}

/* ---- start ----------------------------------------------------------------------------------- */

static void fill_header(struct sxs_samples_header *header)
{
    const struct sxs_sampler_options *options = &sampler.with.options;
    header->mode = (uint16_t)options->mode;
    header->walker = (uint16_t)options->walker;
    header->asked_hz = options->hz;
    header->has_contexts = options->trace != 0;
    header->clock = samples_cpu() ? sxs_clocks_choose(options->hz) : sxs_clocks_choose_none();
    if (options->walker == SXS_WALKER_SNAPSHOT)
        header->clock = SXS_CLOCK_MONOTONIC;
}

static int start_sampling(void)
{
    static struct sxs_recorder_user user = {.began = on_thread_begin,
                                            .ended = on_thread_end,
                                            .left = end_living,
                                            .seen = on_thread_seen,
                                            .round = on_round,
                                            .signal_changed = on_signal_changed,
                                            .before_fork = prepare_fork,
                                            .in_parent = parent_goes_on,
                                            .in_child = child_goes_on};
    SXS_SESSION_KEEPS(user);
    const struct sxs_sampler_options *options = &sampler.with.options;
    int                               err;
    sampler.with.writer = sxs_recorder_writer();
    if (!sampler.with.writer)
        return -1;
    fill_header(sxs_samples_header(sampler.with.writer));
    sxs_rounds_init(sampler.with.writer, options->hz);
    if (options->tiers)
        sxs_tier_settings_read();
    user.is_frequent = options->hz > FREQUENT_HZ;
    err = sxs_handler_install(sampler.with.writer, options->walker);
    if (!err)
        sxs_recorder_use(&user);
    if (!err && options->walker == SXS_WALKER_SNAPSHOT) {
        sxs_snapshot_init(sampler.with.writer, options->mode, options->hz);
        err = -sxs_worker_start(&sampler.rounds, &snapshots);
    } else if (!err && options->mode == SXS_MODE_WALL) {
        sxs_wall_init(sampler.with.writer, options->hz);
        err = -sxs_worker_start(&sampler.rounds, &wall);
    }
    if (err) {
        sxs_error("tool sample cannot start: %s", strerror(-err));
        sxs_handler_pause(1);
        sxs_recorder_use(NULL); /* waits for forks that hold the locks of clocks and snapshots */
        return -1;
    }
    return 1;
}

/* Parses the options of the tool sample. Returns 0, or -1 after a message. */
static int parse_sample(const char *text, struct sxs_sampler_options *out)
{
    char why[SXS_TOOL_WHY];
    if (sxs_sampler_parse(text, out, why, sizeof(why)) == 0)
        return 0;
    sxs_error("tool sample: %s", why);
    return -1;
}

static int parse_wait(const char *text, struct sxs_sampler_options *out)
{
    struct sxs_wait_options wait;
    char                    why[SXS_TOOL_WHY];
    if (sxs_wait_parse(text, &wait, why, sizeof(why)) != 0) {
        sxs_error("tool wait: %s", why);
        return -1;
    }
    sxs_sampler_parse("wall", out, why, sizeof(why));
    out->hz = wait.hz;
    return 0;
}

/* Starts sampling for the tool that is first. For the other one, checks that it can share that. */
static int start_locked(const char *text, int for_wait)
{
    struct sxs_sampler_options options = {0};
    if (sampler.started < 0)
        return 0;
    if ((for_wait ? parse_wait : parse_sample)(text, &options) != 0)
        return 0;
    if (!sampler.started) {
        sampler.with.options = options;
        sampler.with.is_of_wait = for_wait;
        sampler.started = start_sampling();
    } else if (sampler.started == 1 && sampler.with.is_of_wait != for_wait &&
               (options.mode != SXS_MODE_WALL || sampler.with.options.mode != SXS_MODE_WALL)) {
        if (!sampler.is_reported)
            sxs_error(
                "tool %s is off: the tools sample and wait can both be on only with sample:wall",
                for_wait ? "wait" : "sample");
        sampler.is_reported = 1;
        return 0;
    }
    if (sampler.started == 1 && for_wait)
        sxs_wall_ask_reasons();
    return sampler.started == 1;
}

static const struct sxs_sampler *start_once(const char *text, int for_wait)
{
    int ok;
    pthread_mutex_lock(&sampler.lock);
    ok = start_locked(text, for_wait);
    if (!sampler.started)
        sampler.started = -1; /* one message is enough */
    pthread_mutex_unlock(&sampler.lock);
    return ok ? &sampler.with : NULL;
}

const struct sxs_sampler *sxs_sampler_start(const char *text)
{
    return start_once(text, 0);
}

const struct sxs_sampler *sxs_sampler_start_wait(const char *text)
{
    return start_once(text, 1);
}

const struct sxs_sampler *sxs_sampler(void)
{
    return &sampler.with;
}

/* ---- the end of the session ------------------------------------------------------------------ */

#define HANDLERS_NS UINT64_C(2000000000) /* how long a handler of a signal may take */
#define TIERS_NS    UINT64_C(1000000000) /* how long the thread "sxsprof tiers" may take to end */

void sxs_sampler_quiet(void)
{
    const struct timespec pause = {0, 1000000};
    if (sampler.started != 1)
        return;
    sxs_handler_pause(1);
    atomic_store(&sampler.stopped, 1); /* no thread gets a clock any more */
    pthread_mutex_lock(&sampler.lock); /* nor is a thread of the tool started */
    pthread_mutex_unlock(&sampler.lock);
    sxs_worker_end(&sampler.rounds);
    /* A slot that is in use is looked at again: the thread may just be getting its clock, which takes
     * as long as the fork of another thread. Nobody would stop that clock any more. */
    while (sxs_threads_each_busy(sxs_clocks_stop))
        nanosleep(&pause, NULL);
    sxs_sample_signal_drain(HANDLERS_NS);
    sxs_threads_each_busy(end_living);
}

void sxs_sampler_end(void)
{
    if (sampler.started != 1)
        return;
    sxs_sampler_quiet();
    pthread_mutex_lock(&sampler.lock); /* from now on the thread is not started any more */
    pthread_mutex_unlock(&sampler.lock);
    if (sxs_worker_end_within(&sampler.tiers, TIERS_NS) != 0) {
        sxs_warn(
            "tool sample: a runtime does not return from the start of its session of tiers; the "
            "session ends without it");
        sxs_tier_sessions_leave_behind();
        sxs_worker_leave_behind(&sampler.tiers);
    }
    sxs_recorder_use(NULL);
}
