/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - the tool's life: started with the first picked runtime, one service thread that finds
 * threads, starts their clocks, makes room in the file and names what was sampled.
 */
#include "sampler/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "manager/base/clock.h"
#include "manager/base/fork.h"
#include "manager/base/guarded.h"
#include "manager/base/loader.h"
#include "manager/base/log.h"
#include "manager/base/thread.h"
#include "record/sample_options.h"
#include "record/samples_write.h"
#include "record/session_write.h"
#include "sampler/clocks.h"
#include "sampler/code.h"
#include "sampler/compiled.h"
#include "sampler/dispatch.h"
#include "sampler/early.h"
#include "sampler/handler.h"
#include "sampler/pauses.h"
#include "sampler/snapshot.h"
#include "sampler/stacks.h"
#include "sampler/tables.h"
#include "sampler/threads.h"
#include "sampler/tier_sessions.h"
#include "sampler/tier_settings.h"
#include "sampler/walkers.h"
#include "sampler/wall.h"
#include "signals/signals.h"

#define PERIOD_NS 20000000L /* of the service thread's rounds while something happens */
/* The same where threads tell of themselves, and samples are few enough for the room ahead. */
#define CALM_NS 60000000L
#define CALM_HZ 1000u
/* While a program starts, it loads files, whose stacks cannot be followed until a round. */
#define EARLY_NS  UINT64_C(2000000000)
#define IDLE_NS   80000000L /* at most this, when nothing does: a wake-up costs some 30 us of CPU */
#define NAMING_NS 80000000L /* between two looks at what was sampled and loaded */
#define MAX_BYTES \
    (UINT64_C(1) << 30) /* of the samples file; beyond it samples are counted as dropped */

static struct {
    pthread_mutex_t            lock;    /* guards started */
    int                        started; /* 1: at work, -1: could not */
    struct sxs_samples_writer *writer;
    struct sxs_samples_header *header;
    struct sxs_sampler_options options;
    _Atomic int                forked;
    _Atomic int stopped; /* the host needs all signals that samples could be taken with */
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sampler.lock);

/* ---- threads ---------------------------------------------------------------------------------- */

static void record_thread(struct sxs_sampled_thread *t, uint64_t ended_ns, uint64_t cpu_ns)
{
    struct sxs_record_thread *r = sxs_samples_reserve(sampler.writer, sizeof(*r));
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

/* A process that makes a thousand threads a second must not fill the file with them. */
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
    if (t->excluded || atomic_load(&sampler.stopped) || sampler.options.mode != SXS_MODE_CPU ||
        sampler.options.walker == SXS_WALKER_SNAPSHOT)
        return 0;
    return sxs_clocks_start(t);
}

/* ---- on the threads themselves ---- */

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

/* ---- on the service thread, for all others ---- */

static int some_came, some_went;

static int came(struct sxs_sampled_thread *t)
{
    some_came = 1;
    /* One that is gone already was seen to its end by itself. */
    return start_clock(t) != 0 && sxs_clocks_cpu_ns(atomic_load(&t->tid)) == 0;
}

static void went(struct sxs_sampled_thread *t)
{
    some_went = 1;
    sxs_clocks_stop(t);
    if (!t->excluded)
        record_end(t, 0);
}

static void seen(struct sxs_sampled_thread *t)
{
    sxs_clocks_check(t);
    sxs_clocks_move(t); /* its slot was BUSY when it was its turn */
}

static void renamed(struct sxs_sampled_thread *t)
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
    int      calm = sxs_signals()->preloaded && sampler.options.hz <= CALM_HZ && age > EARLY_NS;
    if (busy)
        return calm ? CALM_NS : PERIOD_NS;
    return period * 2 < IDLE_NS ? period * 2 : IDLE_NS;
}

static void list_loaded(int modules)
{
    sxs_loader_hold(); /* a fork waits for all of it, and takes no turn in between */
    sxs_walkers_hold_off();
    sxs_tables_refresh(); /* next to nothing, when nothing was loaded */
    if (modules)
        sxs_code_modules();
    sxs_walkers_go_on();
    sxs_loader_release();
}

/* Without it threads are found by looking, the short ones by chance. */
static void watch_threads(void)
{
    static const struct sxs_thread_watch watch = {thread_started, thread_ended};
    sxs_signals()->watch_threads(&watch);
}

/* ---- the sample signal ---- */

static void start_anew(struct sxs_sampled_thread *t)
{
    sxs_clocks_stop(t);
    start_clock(t);
}

/* Not preloaded, the host may have registered over the handler; and over the router, whose recovery
 * from faults the walk relies on. */
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

/* It begins as any thread does, once the watch for threads has begun; its sample signal stays blocked. */
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

/* A thread for each time: it becomes a runtime's own, until it ends. */
static void start_tier_sessions(void)
{
    static const struct sxs_thread starting = {"sxsprof tiers", serve_tier_sessions};
    if (sxs_tier_sessions_due() && sxs_thread_start(&starting) != 0)
        sxs_tier_sessions_failed();
}

static void serve(void)
{
    static const struct sxs_threads_events events = {came, went, renamed, renamed, seen};
    uint64_t                               n_samples = 0;
    long                                   period = PERIOD_NS, since_naming = NAMING_NS;
    sxs_stacks_refresh();
    list_loaded(0); /* before any clock runs: no sample has to do without */
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
        if (sxs_samples_make_room(sampler.writer) != 0)
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

static const struct sxs_thread service = {"sxsprof", serve}, wall = {"sxsprof wall", serve_wall},
                               snapshots = {"sxsprof snap", serve_snapshot};

/* ---- fork ------------------------------------------------------------------------------------- */

/* A thread's own: several may fork at once, and the C library holds no lock meanwhile. */
static _Thread_local struct {
    sigset_t mask;
    int      is_blocked, holds_snapshots, holds_clocks;
} before_fork;

/* A sample signal that arrives again and again can keep clone() from ever getting done. */
static void preparing(void)
{
    sigset_t block;
    before_fork.holds_snapshots =
        sxs_snapshot_hold(); /* the child would be left with suspended runtimes */
    sigemptyset(&block);
    sigaddset(&block, sxs_clocks_signal());
    before_fork.is_blocked = pthread_sigmask(SIG_BLOCK, &block, &before_fork.mask) == 0;
    sxs_walkers_hold_off();
    before_fork.holds_clocks =
        sxs_clocks_hold_for_fork(); /* the child would get a descriptor that nobody knows of */
}

static void unblock(void)
{
    if (before_fork.is_blocked)
        pthread_sigmask(SIG_SETMASK, &before_fork.mask, NULL);
    before_fork.is_blocked = 0;
}

static void parent_goes_on(void)
{
    if (before_fork.holds_clocks)
        sxs_clocks_release();
    sxs_walkers_go_on();
    unblock();
    if (before_fork.holds_snapshots)
        sxs_snapshot_release();
}

static void child_goes_on(void)
{
    atomic_store(&sampler.forked, 1);
    sxs_handler_pause(1);
    sxs_samples_forget(sampler.writer);
    sxs_threads_each_slot(sxs_clocks_disown);
    sxs_threads_forget();
    unblock();
}

/* ---- start and end ---------------------------------------------------------------------------- */

static int start_sampling(void)
{
    static struct sxs_fork_part part = {preparing, parent_goes_on, child_goes_on, NULL};
    const struct sxs_folder    *folder = sxs_session_folder("sample");
    int                         err;
    if (!folder)
        return -1;
    if (sxs_signals()->size <= offsetof(struct sxs_signals, unblock_samples)) {
        sxs_error("tool sample cannot start: the preloaded signal library is older than this one");
        return -1;
    }
    sampler.writer = sxs_samples_create(folder, MAX_BYTES);
    if (!sampler.writer) {
        sxs_error("tool sample: the samples file cannot be made: %s", strerror(errno));
        return -1;
    }
    sampler.header = sxs_samples_header(sampler.writer);
    sampler.header->mode = (uint16_t)sampler.options.mode;
    sampler.header->walker = (uint16_t)sampler.options.walker;
    sampler.header->asked_hz = sampler.options.hz;
    sampler.header->clock = sxs_clocks_choose(sampler.options.hz);
    sampler.header->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    sampler.header->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    if (sampler.options.tiers)
        sxs_tier_settings_read();
    memcpy(sampler.header->command, sxs_session_open(NULL)->command,
           sizeof(sampler.header->command));
    err = sxs_code_init(sampler.writer);
    if (!err)
        err = sxs_handler_install(sampler.writer, sampler.options.walker);
    if (!err)
        sxs_fork_register(&part);
    if (!err && sampler.options.walker == SXS_WALKER_SNAPSHOT) {
        sampler.header->clock = SXS_CLOCK_MONOTONIC;
        sxs_snapshot_init(sampler.writer, sampler.options.mode, sampler.options.hz);
        err = -sxs_thread_start(&snapshots);
    } else if (!err && sampler.options.mode == SXS_MODE_WALL) {
        sxs_wall_init(sampler.writer, sampler.options.hz);
        err = -sxs_thread_start(&wall);
    }
    if (!err) /* last: it lets threads that begin be sampled, but not those of the library */
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

/* ---- the tool ---------------------------------------------------------------------------------- */

static void record_runtime(const struct sxs_runtime *rt)
{
    const char                *version = sxs_runtime_version(rt), *path = sxs_runtime_path(rt);
    size_t                     v = strlen(version), p = strlen(path);
    struct sxs_record_runtime *r = sxs_samples_reserve(sampler.writer, sizeof(*r) + v + p);
    if (!r)
        return;
    r->number = sxs_runtime_number(rt);
    r->version_size = (uint16_t)v;
    r->path_size = (uint16_t)p;
    memcpy(r->text, version, v);
    memcpy(r->text + v, path, p);
    sxs_samples_commit(r, SXS_RECORD_RUNTIME);
}

static HRESULT start(struct sxs_sub *sub, const char *text)
{
    char bad[64];
    int  ok;
    pthread_mutex_lock(&sampler.lock);
    if (!sampler.started) {
        sampler.started = -1;
        if (sxs_sampler_parse(text, &sampler.options, bad, sizeof(bad)) != 0)
            sxs_error("tool sample: \"%s\": expected " SXS_SAMPLE_OPTIONS_EXPECTED, bad);
        else
            sampler.started = start_sampling();
    }
    ok = sampler.started == 1;
    pthread_mutex_unlock(&sampler.lock);
    if (!ok)
        return E_FAIL;
    record_runtime(sub->rt);
    sub->low = COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_FUNCTION_UNLOADS |
               COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |
               COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_SUSPENDS;
    sub->state = sxs_pauses_new(sampler.writer);
    if (!sub->state || sxs_code_started(sub->rt) != 0)
        return E_OUTOFMEMORY;
    if (sampler.options.walker == SXS_WALKER_SNAPSHOT)
        sub->low |= (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT;
    if (sxs_runtime_info_version(sub->rt) >= 9)
        sub->high = COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    if (sampler.options.tiers && sxs_runtime_info_version(sub->rt) >= 12) {
        sub->high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
        if (!sxs_runtime_is_attached(sub->rt)) /* all of it, until the session runs */
            sub->low |= SXS_TIER_SESSIONS_LOW;
        sxs_tier_sessions_expect(sub);
    }
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread thread, DWORD tid)
{
    (void)thread;
    sxs_threads_mark(tid, sxs_runtime_number(sub->rt));
    return S_OK;
}

/* A runtime that took a fault has left its handler for good by now; the mask of that handler is still
 * in force, but for what the runtime itself had blocked (docs/signals.md). */
static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function function, sxs_object object)
{
    (void)sub, (void)function, (void)object;
    if (sxs_signals()->sample_uses_stack())
        sxs_signals()->unblock_samples();
    return S_OK;
}

static HRESULT suspend_started(struct sxs_sub *sub, COR_PRF_SUSPEND_REASON reason)
{
    sxs_pauses_begin(sub->state, reason);
    return S_OK;
}

static HRESULT suspend_aborted(struct sxs_sub *sub)
{
    sxs_pauses_abort(sub->state);
    return S_OK;
}

static HRESULT resume_finished(struct sxs_sub *sub)
{
    sxs_code_resumed(sub->rt, sxs_pauses_end(sub->state, sxs_runtime_number(sub->rt)));
    return S_OK;
}

static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    (void)provider, (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    sxs_compiled_event(sub->rt, id, data, size);
    return S_OK;
}

static HRESULT compiling(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)function, (void)safe;
    sxs_tier_sessions_compiling(sub->rt, 1);
    return S_OK;
}

static HRESULT recompiling(struct sxs_sub *sub, sxs_function function, sxs_rejit id, BOOL safe)
{
    (void)id;
    return compiling(sub, function, safe);
}

static HRESULT recompiled(struct sxs_sub *sub, sxs_function function, sxs_rejit id, HRESULT status,
                          BOOL safe)
{
    (void)safe;
    if (SUCCEEDED(status))
        sxs_early_compiled(function, id.id);
    sxs_tier_sessions_compiling(sub->rt, 0);
    return S_OK;
}

static HRESULT compiled(struct sxs_sub *sub, sxs_function function, HRESULT status, BOOL safe)
{
    return recompiled(sub, function, (sxs_rejit){sub->rt, 0}, status, safe);
}

static HRESULT function_unloading(struct sxs_sub *sub, sxs_function function)
{
    sxs_code_unloading(sub->rt, function.id);
    return S_OK;
}

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)sub;
    if (SUCCEEDED(status) && sampler.options.walker == SXS_WALKER_SNAPSHOT)
        sxs_dispatch_module(module);
    return S_OK;
}

static HRESULT assembly_unloading(struct sxs_sub *sub, sxs_assembly assembly)
{
    (void)assembly;
    sxs_code_assembly_unloading(sub->rt);
    return S_OK;
}

static HRESULT assembly_unloaded(struct sxs_sub *sub, sxs_assembly assembly, HRESULT status)
{
    (void)assembly, (void)status;
    sxs_code_assembly_unloaded(sub->rt);
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    (void)module;
    if (sxs_tier_sessions_is_expected(sub->rt)) /* what is compiled may lie where early code was */
        sxs_compiled_incomplete(sub->rt);
    sxs_code_unloading(sub->rt, 0);
    return S_OK;
}

static void stop(struct sxs_sub *sub, int detached)
{
    (void)detached;
    if (sampler.options.walker == SXS_WALKER_SNAPSHOT)
        sxs_snapshot_ended();
    sxs_tier_sessions_forget(sub->rt);
    sxs_code_ended(sub->rt);
}

static void release(struct sxs_sub *sub)
{
    sxs_tier_sessions_forget(sub->rt); /* the runtime may have refused the tool: it was not stopped */
    sxs_pauses_free(sub->state);
    sub->state = NULL;
}

static const struct sxs_events events = {
    .ThreadAssignedToOSThread = thread_assigned,
    .ExceptionCatcherEnter = catcher_enter,
    .RuntimeSuspendStarted = suspend_started,
    .RuntimeSuspendAborted = suspend_aborted,
    .RuntimeResumeFinished = resume_finished,
    .JITCompilationStarted = compiling,
    .ReJITCompilationStarted = recompiling,
    .JITCompilationFinished = compiled,
    .ReJITCompilationFinished = recompiled,
    .FunctionUnloadStarted = function_unloading,
    .DynamicMethodUnloaded = function_unloading,
    .AssemblyUnloadStarted = assembly_unloading,
    .AssemblyUnloadFinished = assembly_unloaded,
    .ModuleLoadFinished = module_loaded,
    .ModuleUnloadStarted = module_unloading,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_sample_tool = {
    .name = "sample", .on = &events, .start = start, .stop = stop, .release = release};
