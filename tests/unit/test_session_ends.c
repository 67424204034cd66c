/* SPDX-License-Identifier: MIT */
/* test_session_ends.c - ends of sessions in which something does not come back: a thread inside of an
 * event or of a signal handler, a runtime inside of a call, a tool's own thread. Who asks for the end
 * waits a limited time; the end goes on by itself, and takes nothing from them before. */
#include "tests/unit/sessions_fixture.h"

#include "manager/force_gc.h"
#include "manager/sessions_internal.h"
#include "sampling/clocks.h"
#include "sampling/sample_signal.h"
#include "sampling/threads.h"
#include "tools/heap/snapshot.h"
#include "tools/heap/triggers.h"

#define HELD_MS  3000                /* how long a thread is kept from coming back */
#define SHORT_NS UINT64_C(900000000) /* the limit of the ends that are kept from ending */

static void wait_for_none(void)
{
    while (phase() != SXS_SESSION_NONE)
        usleep(1000);
}

static void wait_until_it_waits_for(const char *what)
{
    struct sxs_session_state now;
    do {
        usleep(1000);
        sxs_session_get_state(&now);
        CHECK_EQ(now.phase, SXS_SESSION_ENDING);
    } while (!strstr(now.waits_for, what));
}

/* The session does not end within the limit; nothing begins meanwhile. @what: is waited for. */
static void must_not_end(const char *what)
{
    char why[SXS_SESSION_WHY];
    sxs_session_end_limit_ns = SHORT_NS;
    CHECK_EQ(sxs_session_end(why), -ETIMEDOUT);
    CHECK(strstr(why, "it does not end yet: "));
    wait_until_it_waits_for(what);
    CHECK_EQ(begin_with("spy", why), -EBUSY);
    CHECK(strstr(why, what));
    CHECK_EQ(sxs_session_end(why), -ETIMEDOUT);
    CHECK(strstr(why, what));
    CHECK_EQ(sxs_runtimes_detach(1000, why), -ETIMEDOUT);
    CHECK(strstr(why, what));
}

/* It has ended, and the next one is as always. */
static void must_end_now(void)
{
    wait_for_none();
    sxs_session_end_limit_ns = UINT64_C(60000000000);
    must_begin("sample:cpu=99;spy");
    must_end();
    CHECK_EQ(n_started, n_released);
    CHECK_EQ(n_started, n_stopped);
}

static void *raise_one(void *arg)
{
    fake_raise0(arg, "JITCompilationStarted", 0x1234, 1);
    return NULL;
}

static void held_body(void)
{
    pthread_t thread;
    start_two();
    must_begin("spy");
    atomic_store(&holds, 1);
    CHECK_EQ(pthread_create(&thread, NULL, raise_one, &eight), 0);
    while (!atomic_load(&is_held))
        usleep(100);
    must_not_end("inside of an event");
    CHECK_EQ(n_stopped, 2);
    CHECK_EQ(n_released, 0);
    CHECK_EQ(n_ended, 0);
    atomic_store(&holds, 0);
    pthread_join(thread, NULL);
    wait_for_none();
    CHECK_EQ(n_released, 2);
    CHECK_EQ(n_ended, 1);
    must_end_now();
    end_two();
}

static void a_thread_that_stays_in_a_handler_keeps_its_memory_until_it_has_come_back(void **state)
{
    (void)state;
    PASSES(held_body);
}

/* A runtime starts and another one ends although the session does not. */
static void stop_body(void)
{
    struct fake_host ten;
    start_two();
    must_begin("spy");
    atomic_store(&stop_holds, 1);
    must_not_end("the tool spy stops in runtime 2");
    ten = fake_start("10.0");
    CHECK_EQ(n_started, 2);
    fake_end(&nine);
    CHECK_EQ(n_released, 0);
    atomic_store(&stop_holds, 0);
    must_end_now();
    CHECK_EQ(n_started, 4);
    nine = ten;
    end_two();
}

static void a_tool_that_does_not_stop_keeps_nobody_waiting_for_ever(void **state)
{
    (void)state;
    PASSES(stop_body);
}

static void *start_ten(void *arg)
{
    *(struct fake_host *)arg = fake_start("10.0");
    return NULL;
}

static void *end_session(void *arg)
{
    (void)arg;
    must_end();
    return NULL;
}

/* The runtime has got no turn in time, and starts the tools of the session without one. */
static void start_body(void)
{
    struct fake_host ten;
    pthread_t        starts, ends;
    start_two();
    must_begin("spy");
    sxs_session_end_limit_ns = SHORT_NS;
    CHECK_EQ(sxs_sessions_lock(0), 0);
    atomic_store(&start_holds, 1);
    pthread_create(&starts, NULL, start_ten, &ten);
    while (!atomic_load(&is_held))
        usleep(1000);
    sxs_session_end_limit_ns = UINT64_C(60000000000);
    sxs_sessions_unlock();
    pthread_create(&ends, NULL, end_session, NULL);
    while (phase() != SXS_SESSION_ENDING)
        usleep(1000);
    wait_until_it_waits_for("a runtime starts or ends");
    atomic_store(&start_holds, 0);
    pthread_join(starts, NULL);
    pthread_join(ends, NULL);
    CHECK_EQ(n_stopped, 3);
    CHECK_EQ(n_released, 3);
    fake_raise0(&ten, "JITCompilationStarted", 0x1234, 1);
    CHECK_EQ(n_events, 0);
    fake_end(&ten);
    end_two();
}

static void a_session_waits_for_a_runtime_that_starts_its_tools(void **state)
{
    (void)state;
    PASSES(start_body);
}

static void join_body(void)
{
    start_two();
    must_begin("spy");
    atomic_store(&end_holds, 1);
    must_not_end("the tool spy ends its threads");
    CHECK_EQ(n_released, 2);
    atomic_store(&end_holds, 0);
    must_end_now();
    end_two();
}

static void a_thread_of_a_tool_that_does_not_end_keeps_nobody_waiting_for_ever(void **state)
{
    (void)state;
    PASSES(join_body);
}

/* ---- a thread that gets its clock late ------------------------------------------------------- */

static _Atomic int has_slot, gets_clock;

static void *get_clock_late(void *arg)
{
    char                    here;
    struct sxs_thread_slot *t = sxs_threads_begin((uintptr_t)&here - 65536, (uintptr_t)&here);
    atomic_store(&has_slot, t ? 1 : -1);
    if (!t) /* it has been found in the list of threads already */
        return NULL;
    while (!atomic_load(&gets_clock))
        usleep(1000);
    sxs_clocks_start(t);
    sxs_threads_ready(t);
    while (atomic_load(&gets_clock))
        usleep(1000);
    return arg;
}

static unsigned count_timers(void)
{
    unsigned n = 0;
    char     line[200];
    FILE    *timers = fopen("/proc/self/timers", "r");
    while (timers && fgets(line, sizeof(line), timers))
        n += strncmp(line, "ID:", 3) == 0;
    if (timers)
        fclose(timers);
    return n;
}

/* As when another thread's fork holds the lock of the clocks for seconds. */
static void late_clock_body(void)
{
    pthread_t thread, ends;
    start_two();
    must_begin("sample:cpu=99");
    do {
        atomic_store(&has_slot, 0);
        pthread_create(&thread, NULL, get_clock_late, NULL);
        while (!atomic_load(&has_slot))
            usleep(100);
    } while (has_slot < 0 && pthread_join(thread, NULL) == 0);
    pthread_create(&ends, NULL, end_session, NULL);
    while (phase() != SXS_SESSION_ENDING)
        usleep(1000);
    usleep(5000000); /* longer than any limit on the way */
    CHECK_EQ(phase(), SXS_SESSION_ENDING);
    atomic_store(&gets_clock, 1);
    pthread_join(ends, NULL);
    CHECK_EQ(count_timers(), 0);
    atomic_store(&gets_clock, 0);
    pthread_join(thread, NULL);
    end_two();
}

static void the_clock_of_a_thread_that_gets_it_late_is_stopped(void **state)
{
    (void)state;
    PASSES(late_clock_body);
}

/* ---- a thread that stays in the handler of the sample signal --------------------------------- */

static _Atomic int handler_holds, is_in_handler, tid_of_burner, rests;

static void hold_handler(const ucontext_t *uc)
{
    (void)uc;
    while (atomic_load(&handler_holds))
        atomic_store(&is_in_handler, 1);
}

static void *burn(void *arg)
{
    volatile unsigned long *n = arg;
    atomic_store(&tid_of_burner, (int)syscall(SYS_gettid));
    while (!atomic_load(&rests))
        ++*n;
    return NULL;
}

static void handler_body(void)
{
    unsigned long n = 0;
    pthread_t     thread;
    start_two();
    CHECK_EQ(pthread_create(&thread, NULL, burn, &n), 0);
    while (!atomic_load(&tid_of_burner))
        usleep(100);
    must_begin("sample:cpu=99");
    atomic_store(&handler_holds, 1);
    sxs_sample_signal_serve(hold_handler);
    while (!atomic_load(&is_in_handler)) {
        CHECK_EQ(sxs_sample_signal_send((uint32_t)atomic_load(&tid_of_burner), 1000), 0);
        usleep(10000);
    }
    must_not_end("the tool recorder ends its threads");
    usleep(6000000); /* longer than a handler is waited for at once */
    CHECK_EQ(phase(), SXS_SESSION_ENDING);
    atomic_store(&handler_holds, 0); /* the handler goes on to take its sample */
    must_end_now();
    atomic_store(&rests, 1);
    pthread_join(thread, NULL);
    end_two();
}

static void a_handler_of_the_sample_signal_keeps_what_it_uses_until_it_has_come_back(void **state)
{
    (void)state;
    PASSES(handler_body);
}

/* ---- a runtime that does not return ---------------------------------------------------------- */

static _Atomic int      lets_go = 0; /* 1: calls return */
static _Atomic unsigned n_pipe_starts, n_pipe_stops;

static _Atomic int stop_pipe_holds;

static HRESULT start_pipe(ICorProfilerInfo15 *self, UINT32 n,
                          COR_PRF_EVENTPIPE_PROVIDER_CONFIG *providers, BOOL rundown,
                          EVENTPIPE_SESSION *id)
{
    (void)self, (void)n, (void)providers, (void)rundown;
    atomic_fetch_add(&n_pipe_starts, 1);
    while (!atomic_load(&lets_go))
        usleep(1000);
    *id = 77;
    return S_OK;
}

static HRESULT stop_pipe(ICorProfilerInfo15 *self, EVENTPIPE_SESSION id)
{
    (void)self;
    CHECK_EQ(id, 77);
    atomic_fetch_add(&n_pipe_stops, 1);
    while (atomic_load(&stop_pipe_holds))
        usleep(1000);
    return S_OK;
}

static _Atomic int masks_are_refused;

static HRESULT set_mask2(ICorProfilerInfo15 *self, DWORD low, DWORD high)
{
    (void)self, (void)low, (void)high;
    return atomic_load(&masks_are_refused) ? E_FAIL : S_OK;
}

/* Gives the simulated runtime number @number other functions for sessions of EventPipe. */
static void replace_pipes(unsigned number)
{
    static struct ICorProfilerInfo15Vtbl other;
    struct sxs_runtime                  *rts[8];
    size_t                               n = sxs_runtimes_live(rts, ARRAY_LEN(rts));
    for (size_t i = 0; i < n; i++) {
        ICorProfilerInfo15 *info = atomic_load(&rts[i]->info);
        if (sxs_runtime_number(rts[i]) == number) {
            other = *info->vtbl;
            other.EventPipeStartSession = start_pipe;
            other.EventPipeStopSession = stop_pipe;
            other.SetEventMask2 = set_mask2;
            info->vtbl = &other;
        }
        sxs_runtime_unref(rts[i]);
    }
}

static void wait_until(const _Atomic unsigned *count, unsigned wanted)
{
    while (atomic_load(count) < wanted)
        usleep(1000);
}

static void stuck_runtime_body(void)
{
    unsigned threads;
    start_two();
    must_begin("sample:cpu=99");
    must_end();
    threads = entries_of("/proc/self/task");
    replace_pipes(1);
    must_begin("sample:cpu=99");
    wait_until(&n_pipe_starts, 1);
    must_end();
    CHECK_EQ(phase(), SXS_SESSION_NONE);
    CHECK_EQ(n_pipe_stops, 0);
    must_begin("sample:cpu=99");
    usleep(1500000);            /* longer than a runtime is left alone at first */
    CHECK_EQ(n_pipe_starts, 1); /* no other thread was sent in */
    atomic_store(&lets_go, 1);
    wait_until(&n_pipe_stops, 1); /* by the thread that comes back */
    must_end();
    while (entries_of("/proc/self/task") > threads)
        usleep(1000);
    must_begin("sample:cpu=99");
    wait_until(&n_pipe_starts, 2);
    must_end();
    CHECK_EQ(n_pipe_stops, 2);
    end_two();
}

static void a_session_ends_although_a_runtime_does_not_return(void **state)
{
    (void)state;
    PASSES(stuck_runtime_body);
}

/* The tool gc stops its session of events on the thread that ends the session. */
static void stuck_stop_body(void)
{
    start_two();
    atomic_store(&lets_go, 1);
    replace_pipes(1);
    must_begin("gc;spy");
    CHECK_EQ(n_pipe_starts, 1);
    atomic_store(&stop_pipe_holds, 1);
    must_not_end("the tool gc stops in runtime 1");
    CHECK_EQ(n_stopped, 2);
    atomic_store(&stop_pipe_holds, 0);
    must_end_now();
    CHECK_EQ(n_pipe_stops, 1);
    end_two();
}

static void a_runtime_that_does_not_stop_its_events_keeps_nobody_waiting_for_ever(void **state)
{
    (void)state;
    PASSES(stuck_stop_body);
}

static void refused_mask_body(void)
{
    static const char *const all[] = {"gc", "locks", "alloc", "events"};
    start_two();
    atomic_store(&lets_go, 1);
    replace_pipes(1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        unsigned before = atomic_load(&n_pipe_starts);
        char     why[SXS_SESSION_WHY];
        atomic_store(&masks_are_refused, 1);
        int begun = begin_with(all[i], why); /* the other runtime has no sessions of events */
        CHECK(strstr(why, ": the runtime refuses its event mask"));
        CHECK(n_pipe_starts > before);
        CHECK_EQ(n_pipe_stops, n_pipe_starts);
        atomic_store(&masks_are_refused, 0);
        if (begun == 0)
            must_end();
        CHECK_EQ(n_pipe_stops, n_pipe_starts);
    }
    end_two();
}

static void a_tool_whose_mask_is_refused_leaves_no_session_of_events(void **state)
{
    (void)state;
    PASSES(refused_mask_body);
}

/* ---- a snapshot of the heap ------------------------------------------------------------------ */

static _Atomic int gc_thread_is_held, gc_thread_goes_on, snapshot_is_over;

static void hold_gc_thread(void *arg)
{
    (void)arg;
    atomic_store(&gc_thread_is_held, 1);
    while (!atomic_load(&gc_thread_goes_on))
        usleep(1000);
}

static void *keep_gc_thread(void *arg)
{
    sxs_gc_thread_call(hold_gc_thread, NULL);
    return arg;
}

static void *take_snapshot(void *arg)
{
    sxs_heap_take(sxs_heap_options_used(), SXS_HEAP_ON_SIGNAL, NULL);
    atomic_store(&snapshot_is_over, 1);
    return arg;
}

/* The runtime whose snapshot waits for a collection is asked for it once the others are done. */
static void snapshot_body(void)
{
    pthread_t holder, taker;
    start_two();
    must_begin("heap");
    CHECK_EQ(pthread_create(&holder, NULL, keep_gc_thread, NULL), 0);
    while (!atomic_load(&gc_thread_is_held))
        usleep(1000);
    CHECK_EQ(pthread_create(&taker, NULL, take_snapshot, NULL), 0);
    usleep(100000); /* it has marked the first runtime as busy */
    must_not_end("the tool heap stops in runtime 1");
    usleep(HELD_MS * 1000);
    wait_until_it_waits_for("the tool heap stops in runtime 1");
    CHECK_EQ(snapshot_is_over, 0);
    atomic_store(&gc_thread_goes_on, 1);
    pthread_join(holder, NULL);
    pthread_join(taker, NULL);
    must_end_now();
    end_two();
}

static void what_a_heap_snapshot_uses_is_kept_until_it_is_taken(void **state)
{
    (void)state;
    PASSES(snapshot_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(
            a_thread_that_stays_in_a_handler_keeps_its_memory_until_it_has_come_back,
            plain_environment),
        cmocka_unit_test_setup(a_tool_whose_mask_is_refused_leaves_no_session_of_events,
                               plain_environment),
        cmocka_unit_test_setup(a_tool_that_does_not_stop_keeps_nobody_waiting_for_ever,
                               plain_environment),
        cmocka_unit_test_setup(a_session_waits_for_a_runtime_that_starts_its_tools,
                               plain_environment),
        cmocka_unit_test_setup(a_thread_of_a_tool_that_does_not_end_keeps_nobody_waiting_for_ever,
                               plain_environment),
        cmocka_unit_test_setup(the_clock_of_a_thread_that_gets_it_late_is_stopped,
                               plain_environment),
        cmocka_unit_test_setup(
            a_handler_of_the_sample_signal_keeps_what_it_uses_until_it_has_come_back,
            plain_environment),
        cmocka_unit_test_setup(a_session_ends_although_a_runtime_does_not_return,
                               plain_environment),
        cmocka_unit_test_setup(
            a_runtime_that_does_not_stop_its_events_keeps_nobody_waiting_for_ever,
            plain_environment),
        cmocka_unit_test_setup(what_a_heap_snapshot_uses_is_kept_until_it_is_taken,
                               plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
