/* SPDX-License-Identifier: MIT */
/* sampling/recorder.c - starts and ends recording. It starts with the first picked runtime
 * and runs one service thread. */
#include "sampling/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/guarded.h"
#include "base/loader.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "sampling/code.h"
#include "sampling/costs.h"
#include "sampling/sample_signal.h"
#include "sampling/stacks.h"
#include "sampling/walk.h"
#include "session/write/session_write.h"
#include "signals/signals.h"
#include "stackwalk/fast/tables.h"

#define PERIOD_NS 20000000L /* period of the service thread while there is work */
/* The period where threads announce their starts themselves, and where records are so few that
 * the reserved space is sufficient. */
#define CALM_NS 60000000L
/* The shorter period is used while a program starts, because it loads files, and their frames
 * cannot be unwound before the next round. */
#define EARLY_NS UINT64_C(2000000000)
/* Longest period, when there is no work: each wake-up costs some 30 us of CPU. */
#define IDLE_NS   80000000L
#define NAMING_NS 80000000L /* between two rounds that look up samples and loaded files */
/* Maximum size of the samples file; when it is reached, records are dropped and counted. */
#define MAX_BYTES (UINT64_C(1) << 30)

static struct {
    pthread_mutex_t                           lock;    /* guards started */
    int                                       started; /* 1: recording; -1: failed to start */
    struct sxs_samples_header                *header;
    _Atomic(struct sxs_samples_writer *)      writer;
    _Atomic(const struct sxs_recorder_user *) user; /* NULL: none */
    _Atomic int                               is_user_new;
    _Atomic int                               forked;
    _Atomic int                               ending; /* 1: threads are not looked at any more */
    _Atomic int                               exits;  /* 1: the process exits */
    struct sxs_worker                         worker; /* the service thread */
    /* The number of the latest request to name all addresses, and of the latest one that is done. */
    _Atomic unsigned asked, named;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(recorder.lock);
SXS_SESSION_RESETS(recorder);

/* Threads that report their own start or end, also while a session ends. */
static _Atomic unsigned n_reporting;
static _Atomic int      is_watching; /* 1: such threads are reported from now on */
static _Atomic unsigned n_forking;   /* threads between prepare_fork() and the end of their forks */
SXS_SESSION_KEEPS(n_reporting);
SXS_SESSION_KEEPS(n_forking);
SXS_SESSION_KEEPS(is_watching);

SXS_SIGSAFE struct sxs_samples_writer *sxs_recorder_writer(void)
{
    return atomic_load_explicit(&recorder.writer, memory_order_acquire);
}

SXS_SIGSAFE int sxs_recorder_is_on(void)
{
    return sxs_recorder_writer() && !atomic_load_explicit(&recorder.forked, memory_order_relaxed) &&
           !atomic_load(&recorder.ending);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void record_thread(struct sxs_thread_slot *t, uint64_t ended_ns)
{
    struct sxs_record_thread *r = sxs_samples_reserve(sxs_recorder_writer(), sizeof(*r));
    if (!r)
        return;
    r->tid = atomic_load(&t->tid);
    r->runtimes = atomic_load(&t->runtimes);
    r->started_ns = t->started_ns;
    r->ended_ns = ended_ns;
    r->cpu_ns = ended_ns ? t->end_cpu_ns : 0;
    memcpy(r->name, t->name, sizeof(r->name));
    r->name_ns = t->name_ns;
    r->born_ns = t->born_ns;
    if (ended_ns || atomic_load(&recorder.ending) || atomic_load(&recorder.exits))
        r->unsampled_ns = atomic_load(&t->unsampled_ns);
    sxs_samples_commit(r, SXS_RECORD_THREAD);
    t->recorded = 1;
}

/* Short threads without samples that have a record nevertheless, because reports tell by their names
 * how much of their lives was not sampled. */
#define SHORT_RECORDS 65536u

/* Adds a thread's time that was not sampled to the sums. Returns 1 if it is to have a record, else 0. */
static int count_unsampled(const struct sxs_thread_slot *t)
{
    uint64_t ns = atomic_load(&t->unsampled_ns);
    if (!ns)
        return 0;
    atomic_fetch_add(&recorder.header->unsampled_ns, ns);
    return atomic_fetch_add(&recorder.header->n_unsampled, 1) < SHORT_RECORDS;
}

/* Records the end of a thread. Short threads without samples are only counted, so that a process
 * that makes a thousand threads a second does not fill the file. */
static void record_end(struct sxs_thread_slot *t)
{
    uint64_t gone = atomic_load(&t->gone_ns);
    uint64_t now = gone ? gone : sxs_now_ns(CLOCK_MONOTONIC);
    int      lacks = count_unsampled(t);
    if (lacks || t->recorded || atomic_load(&t->last) || atomic_load(&t->has_costs) ||
        now - t->started_ns >= SXS_SHORT_NS) {
        record_thread(t, now);
        return;
    }
    atomic_fetch_add(&recorder.header->n_short_threads, 1);
    atomic_fetch_add(&recorder.header->short_cpu_ns, t->end_cpu_ns);
}

/* Tells the user of a thread, once. Returns nonzero if the thread has ended already. */
static int tell_begin(struct sxs_thread_slot *t)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    if (!user || t->begun || t->excluded)
        return 0;
    t->begun = 1;
    return user->began ? user->began(t) : 0;
}

static void tell_end(struct sxs_thread_slot *t)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    if (user && user->ended && t->begun)
        user->ended(t);
    t->begun = 0;
}

/* ---- on the threads of the program ----------------------------------------------------------- */

static void thread_started(uintptr_t stack_lo, uintptr_t stack_hi)
{
    struct sxs_thread_slot *t;
    atomic_fetch_add(&n_reporting, 1);
    if (sxs_recorder_is_on() && (t = sxs_threads_begin(stack_lo, stack_hi))) {
        tell_begin(t);
        sxs_threads_ready(t);
    }
    atomic_fetch_sub(&n_reporting, 1);
}

static void thread_ended(void)
{
    struct sxs_thread_slot *t;
    atomic_fetch_add(&n_reporting, 1);
    if (sxs_recorder_is_on() && (t = sxs_threads_finish())) {
        tell_end(t);
        if (!t->excluded)
            record_end(t);
        sxs_threads_release(t);
    }
    atomic_fetch_sub(&n_reporting, 1);
}

void sxs_recorder_leave_out(void)
{
    struct sxs_thread_slot *t = sxs_threads_find((uint32_t)syscall(SYS_gettid));
    if (t)
        t->excluded = 1; /* also if another thread looks at the slot */
    t = sxs_threads_finish();
    if (!t)
        return;
    tell_end(t);
    sxs_threads_ready(t);
}

/* ---- on the service thread, for all other threads -------------------------------------------- */

static int some_came, some_went;
SXS_SESSION_RESETS(some_came);
SXS_SESSION_RESETS(some_went);

static int on_thread_begin(struct sxs_thread_slot *t)
{
    some_came = 1;
    /* Nonzero: the thread has ended already, and its end was recorded by the thread itself. */
    return atomic_load(&recorder.user) ? tell_begin(t) : sxs_threads_is_gone(atomic_load(&t->tid));
}

static void on_thread_end(struct sxs_thread_slot *t)
{
    some_went = 1;
    tell_end(t);
    if (!t->excluded)
        record_end(t);
}

static void on_thread_seen(struct sxs_thread_slot *t)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    tell_begin(t); /* if its slot was BUSY when the user came */
    if (user && user->seen)
        user->seen(t);
}

static void on_thread_renamed(struct sxs_thread_slot *t)
{
    record_thread(t, 0);
}

static void tell_begin_late(struct sxs_thread_slot *t)
{
    tell_begin(t);
}

/* A fork that has begun with a user ends with it. */
void sxs_recorder_use(const struct sxs_recorder_user *user)
{
    const struct timespec pause = {0, 100000};
    atomic_store(&recorder.user, user);
    atomic_store(&recorder.is_user_new, 1);
    while (!user && atomic_load(&n_forking))
        nanosleep(&pause, NULL);
}

/* ---- the service thread ---------------------------------------------------------------------- */

static int has_recorded(uint64_t *before)
{
    uint64_t now = atomic_load(&recorder.header->n_samples);
    int      more;
    for (size_t i = 0; i < ARRAY_LEN(recorder.header->n_costs); i++)
        now += atomic_load(&recorder.header->n_costs[i]);
    more = now != *before;
    *before = now;
    return more;
}

static long next_period(long period, int busy)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    uint64_t                        age = sxs_now_ns(CLOCK_MONOTONIC) - recorder.header->started_ns;
    int calm = sxs_signals()->preloaded && !(user && user->is_frequent) && age > EARLY_NS;
    if (busy)
        return calm ? CALM_NS : PERIOD_NS;
    return period * 2 < IDLE_NS ? period * 2 : IDLE_NS;
}

static void list_loaded(int modules)
{
    sxs_loader_hold();    /* held for all of this, so that no fork happens in between */
    /* Nearly free when nothing was loaded. What is listed for walks is recorded at once, because it may be
     * unloaded soon. */
    if (sxs_tables_refresh() != 0 || modules)
        sxs_code_modules();
    sxs_loader_release();
}

/* Without this, threads are found by reading /proc/self/task only, and short ones only by
 * chance. */
static void watch_threads(void)
{
    static const struct sxs_thread_watch watch = {thread_started, thread_ended};
    if (!atomic_load(&is_watching) && sxs_signals()->watch_threads(&watch) == 0)
        atomic_store(&is_watching, 1);
}

static void check_signals(void)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    enum sxs_sample_signal_state    state = sxs_sample_signal_check();
    sxs_guarded_rely(sxs_signals()->guard(sxs_guarded_code()) == 1);
    if (state != SXS_SAMPLE_SIGNAL_SAME && user && user->signal_changed)
        user->signal_changed(state == SXS_SAMPLE_SIGNAL_LOST);
}

static void look_at_threads(void)
{
    static const struct sxs_threads_events events = {
        on_thread_begin, on_thread_end, on_thread_renamed, on_thread_renamed, on_thread_seen};
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    if (atomic_exchange(&recorder.is_user_new, 0))
        sxs_threads_each_busy(tell_begin_late);
    sxs_threads_scan(&events);
    atomic_store(&recorder.header->n_unlisted, sxs_threads_unlisted());
    if (some_came || sxs_stacks_missed())
        sxs_stacks_refresh();
    if (user && user->round)
        user->round();
}

static void make_room(void)
{
    if (sxs_samples_make_room(sxs_recorder_writer()) != 0)
        sxs_warn("the samples file cannot grow: what comes from now on is dropped and counted");
}

static void serve_recorder(void)
{
    uint64_t n_recorded = 0;
    long     period = PERIOD_NS, since_naming = NAMING_NS;
    sxs_stacks_refresh();
    list_loaded(0); /* before any clock runs, so that every sample has unwind tables */
    watch_threads();
    do {
        unsigned asked = atomic_load(&recorder.asked);
        int      names_all = asked != atomic_load(&recorder.named);
        some_came = some_went = 0;
        make_room();
        check_signals();
        look_at_threads();
        list_loaded(names_all || since_naming >= NAMING_NS);
        make_room(); /* again, because lists of modules take their time */
        if (names_all || since_naming >= NAMING_NS) {
            since_naming = 0;
            sxs_code_catch_up();
            atomic_store(&recorder.named, asked);
        }
        period = next_period(period, some_came || some_went || has_recorded(&n_recorded));
        since_naming += period;
    } while (!sxs_worker_pause(&recorder.worker, (uint64_t)period) &&
             !atomic_load(&recorder.forked));
}

/* The file has little room. Threads and signal handlers call this. */
SXS_SIGSAFE static void ask_for_room(void)
{
    sxs_worker_wake(&recorder.worker);
}

static const struct sxs_thread service = {"sxsprof", serve_recorder};

/* ---- fork ------------------------------------------------------------------------------------ */

/* The user when this thread's fork began; per thread, because several may fork at once. */
static SXS_TLS const struct sxs_recorder_user *forks_with;

static void prepare_fork(void)
{
    const struct sxs_recorder_user *user;
    atomic_fetch_add(&n_forking, 1);
    user = atomic_load(&recorder.user);
    forks_with = user;
    if (user && user->before_fork)
        user->before_fork();
}

static void parent_goes_on(void)
{
    const struct sxs_recorder_user *user = forks_with;
    if (user && user->in_parent)
        user->in_parent();
    forks_with = NULL;
    atomic_fetch_sub(&n_forking, 1);
}

static void child_goes_on(void)
{
    const struct sxs_recorder_user *user = forks_with ? forks_with : atomic_load(&recorder.user);
    atomic_store(&n_forking, 0);
    atomic_store(&recorder.forked, 1);
    sxs_costs_forget();
    if (sxs_recorder_writer())
        sxs_samples_forget(sxs_recorder_writer());
    if (user && user->in_child)
        user->in_child();
    sxs_threads_forget();
}

/* ---- start and end --------------------------------------------------------------------------- */

static int start_recording(void)
{
    static struct sxs_fork_part part = {
        .prepare = prepare_fork, .parent = parent_goes_on, .child = child_goes_on};
    const struct sxs_folder    *folder = sxs_session_folder("recorder");
    struct sxs_samples_writer  *writer;
    int                         err;
    if (!folder)
        return -1;
    if (sxs_signals()->size <= offsetof(struct sxs_signals, unblock_samples)) {
        sxs_error("nothing is recorded: the preloaded signal library is older than this one");
        return -1;
    }
    writer = sxs_samples_create(folder, MAX_BYTES, ask_for_room);
    if (!writer) {
        sxs_error("the samples file cannot be made: %s", strerror(errno));
        return -1;
    }
    recorder.header = sxs_samples_header(writer);
    recorder.header->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    recorder.header->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    memcpy(recorder.header->command, sxs_session_open(NULL)->command,
           sizeof(recorder.header->command));
    atomic_store_explicit(&recorder.writer, writer, memory_order_release);
    err = sxs_code_init(writer);
    if (!err) {
        sxs_walk_prepare();
        sxs_stacks_refresh(); /* costs of the first milliseconds have stacks, too */
        sxs_costs_start(writer);
        sxs_fork_register(&part);
        err = -sxs_worker_start(&recorder.worker, &service);
    }
    if (err) {
        sxs_error("nothing is recorded: %s", strerror(-err));
        return -1;
    }
    return 1;
}

int sxs_recorder_start(void)
{
    int ok;
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.started) {
        recorder.started = -1;
        recorder.started = start_recording();
    }
    ok = recorder.started == 1;
    pthread_mutex_unlock(&recorder.lock);
    return ok ? 0 : -1;
}

/* ---- the end of the session ------------------------------------------------------------------ */

#define HANDLERS_NS UINT64_C(5000000000) /* a handler of a signal that takes longer is reported */
#define NAME_ALL_NS UINT64_C(5000000000)

static void record_living(struct sxs_thread_slot *t)
{
    uint64_t gone = atomic_load(&t->gone_ns); /* no scan has cleared it away since */
    /* A new thread of the library is marked as the library's own shortly after its start. */
    if (!t->excluded && !sxs_thread_is_own(atomic_load(&t->tid)) &&
        (count_unsampled(t) || !t->recorded || gone))
        record_thread(t, gone);
}

/* Completes what is recorded of a thread that lives while the process exits. */
static void leave_living(struct sxs_thread_slot *t)
{
    const struct sxs_recorder_user *user = atomic_load(&recorder.user);
    if (t->is_left)
        return;
    t->is_left = 1;
    if (user && user->left && t->begun && !t->excluded)
        user->left(t);
    if (atomic_load(&t->unsampled_ns) || atomic_load(&t->gone_ns))
        record_living(t);
}

/* How long an exit waits, at most, for slots that a round of samples looks at. */
#define LEAVE_TRIES 200
#define LEAVE_NS    100000

static void leave_all(void)
{
    const struct timespec pause = {0, LEAVE_NS};
    for (int i = 0; sxs_threads_each_busy(leave_living) && i < LEAVE_TRIES; i++)
        nanosleep(&pause, NULL);
}

__attribute__((destructor)) static void ended(void)
{
    atomic_fetch_add(&n_reporting, 1); /* a session that ends meanwhile waits */
    if (sxs_recorder_is_on()) {
        atomic_store(&recorder.exits, 1);
        leave_all();
        sxs_code_exits();
        atomic_store(&recorder.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
    }
    atomic_fetch_sub(&n_reporting, 1);
}

static void wait_for_reports(void)
{
    const struct timespec pause = {0, 100000};
    while (atomic_load(&n_reporting))
        nanosleep(&pause, NULL);
}

void sxs_recorder_end(void)
{
    struct sxs_samples_writer *writer = sxs_recorder_writer();
    if (recorder.started != 1)
        return;
    atomic_store(&recorder.ending, 1);
    sxs_worker_end(&recorder.worker);
    wait_for_reports();
    sxs_costs_forget();
    if (sxs_sample_signal_end(HANDLERS_NS) != 0) {
        sxs_warn(
            "a thread stays inside of the handler of the sample signal; the session ends when it "
            "has come back");
        while (sxs_sample_signal_drain(HANDLERS_NS) != 0) /* what it uses must stay */
            continue;
    }
    sxs_threads_each_busy(record_living);
    sxs_code_end();
    sxs_costs_forget_names();
    sxs_walk_forget();
    sxs_tables_forget();
    atomic_store(&recorder.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
    atomic_store(&recorder.writer, NULL);
    sxs_samples_finish(writer);
}

int sxs_recorder_name_all(void)
{
    const struct timespec pause = {0, 1000000};
    uint64_t              until = sxs_now_ns(CLOCK_MONOTONIC) + NAME_ALL_NS;
    unsigned              wanted;
    if (!sxs_recorder_is_on())
        return 0;
    wanted = atomic_fetch_add(&recorder.asked, 1) + 1;
    sxs_worker_wake(&recorder.worker);
    while ((int)(atomic_load(&recorder.named) - wanted) < 0) {
        if (sxs_now_ns(CLOCK_MONOTONIC) >= until)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    return 0;
}
