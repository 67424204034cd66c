/* SPDX-License-Identifier: MIT */
/* test_sessions.c - sessions begin and end on simulated runtimes, while threads raise events. */
#include "manager/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>

#include "base/session_state.h"
#include "manager/guid.h"
#include "manager/runtime_internal.h"
#include "session/write/session_write.h"
#include "stackwalk/walk.h"
#include "tests/unit/fake_host.h"
#include "tools/recorder/tool.h"
#include "tools/sample/tool.h"
#include "tools/tools.h"

/* Programs with sanitizers are much slower. */
#ifdef SXS_SANITIZED
#define MANY 60
#else
#define MANY 1000
#endif

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

/* ---- a tool that can be ended, and one that cannot ------------------------------------------- */

/* The memory of a subscription; freed by release(), so that an event that comes later is found. */
struct seen {
    _Atomic unsigned n;
    int              stopped;
};

static _Atomic unsigned n_started, n_stopped, n_released, n_ended, n_events, last_how;
static unsigned         of_session;
SXS_SESSION_RESETS(of_session);
static unsigned kept_for_good;
SXS_SESSION_KEEPS(kept_for_good);
static _Atomic int holds; /* 1: a handler stays until it is 0 again */
static _Atomic int is_held;

static HRESULT on_event(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    struct seen *seen = sub->state;
    (void)function, (void)safe;
    atomic_fetch_add(&seen->n, 1);
    atomic_fetch_add(&n_events, 1);
    while (atomic_load(&holds)) {
        atomic_store(&is_held, 1);
        usleep(100);
    }
    return S_OK;
}

static const struct sxs_events spy_events = {.JITCompilationStarted = on_event};

static HRESULT spy_start(struct sxs_sub *sub, const char *options)
{
    if (strcmp(options, "fail") == 0) {
        sxs_error("tool spy: it was told to fail");
        return E_FAIL;
    }
    of_session++;
    kept_for_good++;
    sub->state = calloc(1, sizeof(struct seen));
    sub->low = LOW(JIT_COMPILATION);
    if (strcmp(options, "first") == 0)
        sub->low |= LOW(CODE_TRANSITIONS); /* immutable */
    atomic_fetch_add(&n_started, 1);
    return S_OK;
}

static void spy_stop(struct sxs_sub *sub, int how)
{
    ((struct seen *)sub->state)->stopped++;
    atomic_store(&last_how, (unsigned)how);
    atomic_fetch_add(&n_stopped, 1);
}

static void spy_release(struct sxs_sub *sub)
{
    if (sub->state) /* NULL: start() has failed */
        atomic_fetch_add(&n_released, 1);
    free(sub->state);
    sub->state = NULL;
}

static void spy_end(void)
{
    CHECK_EQ(n_started, n_released);
    atomic_fetch_add(&n_ended, 1);
}

static const struct sxs_tool spy = {.name = "spy",
                                    .on = &spy_events,
                                    .start = spy_start,
                                    .stop = spy_stop,
                                    .release = spy_release,
                                    .end_session = spy_end,
                                    .restarts = 1};
static const struct sxs_tool endless = {.name = "endless", .on = &spy_events, .start = spy_start};

static const struct sxs_tool *const tools[] = {
    &sxs_guard_tool,  &sxs_pin_tool, &sxs_census_tool, &sxs_stackwalk_tool, &sxs_recorder_tool,
    &sxs_sample_tool, &spy,          &endless};

/* ---- helpers --------------------------------------------------------------------------------- */

static char out[300];

static int begin_with(const char *what, char why[SXS_SESSION_WHY])
{
    const struct sxs_session_request request = {.tools = what, .out = out};
    return sxs_session_begin(&request, why);
}

static void must_begin(const char *what)
{
    char why[SXS_SESSION_WHY];
    int  err = begin_with(what, why);
    if (err || why[0])
        dprintf(check_fd, "%s\n", why);
    CHECK_EQ(err, 0);
    CHECK_EQ(why[0], '\0');
}

static void must_end(void)
{
    char why[SXS_SESSION_WHY];
    int  err = sxs_session_end(why);
    if (err)
        dprintf(check_fd, "%s\n", why);
    CHECK_EQ(err, 0);
}

static enum sxs_session_phase phase(void)
{
    struct sxs_session_state now;
    sxs_session_get_state(&now);
    return now.phase;
}

static unsigned entries_of(const char *path)
{
    unsigned n = 0;
    DIR     *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static struct fake_host eight, nine;

static void start_two(void)
{
    profile_without_signals(tools, ARRAY_LEN(tools));
    snprintf(out, sizeof(out), "%s/out", temporary());
    eight = fake_start("8.0");
    nine = fake_start("9.0");
}

static void end_two(void)
{
    fake_end(&eight);
    fake_end(&nine);
    *strrchr(out, '/') = '\0';
    remove_tree(out);
}

static _Atomic int rests; /* 1: the threads that raise events end */

static void *raise_events(void *arg)
{
    while (!atomic_load(&rests)) {
        fake_raise0(arg, "JITCompilationStarted", 0x1234, 1);
        fake_raise0(arg, "JITCompilationFinished", 0x1234, 0);
        fake_raise0(arg, "ThreadAssignedToOSThread", 7, (uint64_t)syscall(SYS_gettid));
    }
    return NULL;
}

struct load {
    pthread_t threads[4];
};

static void begin_load(struct load *load)
{
    atomic_store(&rests, 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&load->threads[i], NULL, raise_events, i % 2 ? &eight : &nine), 0);
}

static void end_load(const struct load *load)
{
    atomic_store(&rests, 1);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(load->threads[i], NULL);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void many_body(void)
{
    struct load load;
    unsigned    before;
    size_t      len;
    start_two();
    len = strlen(out);
    begin_load(&load);
    for (unsigned i = 1; i <= MANY; i++) {
        unsigned generation = sxs_session_generation();
        snprintf(out + len, sizeof(out) - len, "%u", i / 500);
        must_begin("spy");
        CHECK_EQ(phase(), SXS_SESSION_ON);
        before = n_events;
        while (n_events < before + 20)
            sched_yield();
        must_end();
        CHECK_EQ(phase(), SXS_SESSION_NONE);
        CHECK_EQ(n_started, 2 * i);
        CHECK_EQ(n_stopped, 2 * i);
        CHECK_EQ(n_released, 2 * i);
        CHECK_EQ(n_ended, i);
        CHECK_EQ(last_how, SXS_STOP_SESSION);
        CHECK_EQ(of_session, 0); /* set back */
        CHECK_EQ(kept_for_good, 2 * i);
        CHECK(sxs_session_generation() != generation);
    }
    before = n_events;
    usleep(20000);
    CHECK_EQ(n_events, before);
    end_load(&load);
    end_two();
}

static void sessions_begin_and_end_while_threads_raise_events(void **state)
{
    (void)state;
    PASSES(many_body);
}

static void sampled_body(void)
{
    struct load load;
    unsigned    fds, threads;
    start_two();
    begin_load(&load);
    must_begin("sample:cpu=199");
    must_end();
    fds = entries_of("/proc/self/fd");
    threads = entries_of("/proc/self/task");
    for (int i = 0; i < 30; i++) {
        must_begin(i % 2 ? "sample:cpu=199" : "sample:wall=100;spy");
        usleep(20000);
        must_end();
        CHECK_EQ(entries_of("/proc/self/fd"), fds);
        CHECK_EQ(entries_of("/proc/self/task"), threads);
    }
    end_load(&load); /* the IDs that it raises are no functions of the runtimes */
}

static void samples_are_taken_in_each_session_and_no_thread_or_descriptor_is_left(void **state)
{
    (void)state;
    PASSES(sampled_body);
}

static void refused_body(void)
{
    char                             why[SXS_SESSION_WHY];
    const struct sxs_session_request relative = {.tools = "spy", .out = "out"};
    const struct sxs_session_request pick = {.tools = "spy", .out = out, .pick = "some"};
    const struct sxs_session_request other = {.tools = "spy", .out = out, .pick = "one:11"};
    start_two();
    capture();
    CHECK_EQ(sxs_session_end(why), -ENOENT);
    CHECK_EQ(sxs_session_begin(&relative, why), -EINVAL);
    CHECK_EQ(sxs_session_begin(&pick, why), -EINVAL);
    CHECK_EQ(begin_with("spi", why), -EINVAL);
    CHECK(strstr(why, "\"spi\""));
    CHECK_EQ(begin_with("", why), -EINVAL);
    CHECK_EQ(begin_with("endless", why), -ENOTSUP);
    CHECK(strstr(why, "endless"));
    CHECK_EQ(begin_with("spy:first", why), -ENOTSUP);
    CHECK(strstr(why, "only from its start on"));
    CHECK_EQ(begin_with("spy:fail", why), -ENOTSUP);
    CHECK(strstr(why, "it was told to fail"));
    CHECK_EQ(sxs_session_begin(&other, why), -ENOTSUP);
    CHECK_EQ(phase(), SXS_SESSION_NONE);
    CHECK_EQ(entries_of(out), 0);
    must_begin("spy");
    CHECK_EQ(begin_with("spy", why), -EBUSY);
    CHECK(strstr(why, "spy"));
    must_end();
    captured();
    CHECK_EQ(n_started, n_released);
    end_two();
}

static void a_session_that_cannot_begin_says_why_and_leaves_nothing(void **state)
{
    (void)state;
    PASSES(refused_body);
}

static void picked_body(void)
{
    char                             why[SXS_SESSION_WHY];
    const struct sxs_session_request one = {
        .tools = "spy", .out = out, .pick = "one:9.0", .id = "a"};
    const struct sxs_session_request two = {.tools = "spy", .out = out, .id = "b"};
    start_two();
    CHECK_EQ(sxs_session_begin(&one, why), 0);
    CHECK_EQ(n_started, 1);
    CHECK_EQ(atomic_load(&sxs_session_row(1)->state), SXS_STATE_GUARDED);
    CHECK_EQ(sxs_session_begin(&one, why), 0); /* joins */
    CHECK_EQ(n_started, 1);
    CHECK_EQ(sxs_session_begin(&two, why), -EBUSY);
    must_end();
    CHECK_EQ(atomic_load(&sxs_session_row(1)->state), SXS_STATE_PICKED);
    end_two();
}

static void a_session_records_the_runtimes_that_it_picks_and_a_request_joins_its_own(void **state)
{
    (void)state;
    PASSES(picked_body);
}

static void *raise_one(void *arg)
{
    fake_raise0(arg, "JITCompilationStarted", 0x1234, 1);
    return NULL;
}

static void held_body(void)
{
    char      why[SXS_SESSION_WHY];
    pthread_t thread;
    start_two();
    must_begin("spy");
    atomic_store(&holds, 1);
    CHECK_EQ(pthread_create(&thread, NULL, raise_one, &eight), 0);
    while (!atomic_load(&is_held))
        usleep(100);
    CHECK_EQ(sxs_session_end(why), -ETIMEDOUT);
    CHECK_EQ(phase(), SXS_SESSION_ENDING);
    CHECK_EQ(n_stopped, 2);
    CHECK_EQ(n_released, 0);
    CHECK_EQ(n_ended, 0);
    atomic_store(&holds, 0);
    pthread_join(thread, NULL);
    must_begin("spy"); /* finishes the one before */
    CHECK_EQ(n_released, 2);
    CHECK_EQ(n_ended, 1);
    must_end();
    end_two();
}

static void a_thread_that_stays_in_a_handler_keeps_its_memory_until_it_has_come_back(void **state)
{
    (void)state;
    PASSES(held_body);
}

static void counts_body(void)
{
    struct sxs_census_runtime *row;
    start_two();
    row = sxs_session_row(1);
    fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
    CHECK(atomic_load(&row->methods) > 0);
    for (int i = 0; i < 3; i++) {
        must_begin("spy");
        CHECK_EQ(atomic_load(&row->methods), 0);
        CHECK_EQ(row->number, 1);
        CHECK(row->version[0] && row->path[0] && row->started_ns);
        fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
        CHECK_EQ(atomic_load(&row->methods), 1);
        must_end();
        CHECK_EQ(atomic_load(&row->methods), 1); /* goes on in memory */
        fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
        CHECK_EQ(atomic_load(&row->methods), 2);
        CHECK_EQ(row, sxs_session_row(1));
    }
    end_two();
}

static void the_counts_of_each_session_begin_at_zero_at_the_same_address(void **state)
{
    (void)state;
    PASSES(counts_body);
}

static void *end_runtime(void *arg)
{
    int code;
    (void)arg;
    CHECK_EQ(nine.shutdown(nine.host, nine.domain, &code), S_OK);
    return NULL;
}

/* A runtime starts while a session is on, another ends while a session ends, a child forks. */
static void while_body(void)
{
    pthread_t        thread;
    struct fake_host ten;
    char             why[SXS_SESSION_WHY];
    int              status;
    pid_t            pid;
    start_two();
    must_begin("sample;spy");
    ten = fake_start("10.0");
    CHECK_EQ(n_started, 3);
    pid = fork();
    if (pid == 0) {
        int err = sxs_session_end(why);
        _exit(err == -ENOENT && begin_with("spy", why) == -ENOTSUP ? 0 : 1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(pthread_create(&thread, NULL, end_runtime, NULL), 0);
    must_end();
    pthread_join(thread, NULL);
    CHECK_EQ(n_started, 3);
    CHECK_EQ(n_stopped, 3);
    CHECK_EQ(n_released, 3);
    must_begin("spy");
    CHECK_EQ(n_started, 5);
    fake_end(&ten); /* stopped by its runtime; released at the end of the session, or before */
    must_end();
    CHECK_EQ(n_released, 5);
    CHECK_EQ(n_stopped, 5);
    fake_end(&eight);
    CHECK_EQ(begin_with("spy", why), -ENOTSUP);
}

static void runtimes_start_and_end_and_children_fork_meanwhile(void **state)
{
    (void)state;
    PASSES(while_body);
}

static void wait_for(const struct fake_host *h, enum fakeclr_load state)
{
    for (int i = 0; i < 20000 && h->c->load_state() != state; i++)
        usleep(500);
    CHECK_EQ(h->c->load_state(), state);
}

static void raise_thrown(const struct fake_host *h)
{
    ModuleID module = h->c->module_load("exceptions.dll");
    fake_raise0(h, "ExceptionThrown",
                h->c->object_new(h->c->class_new(module, "Failure", 0, 0, NULL)), 0);
}

static void detach_body(void)
{
    char why[SXS_SESSION_WHY];
    start_two();
    must_begin("sample;spy");
    raise_thrown(&nine);
    CHECK_EQ(fake_counts(&nine).handles, 1);
    CHECK_EQ(sxs_runtimes_detach(1000, why), 0);
    CHECK_EQ(fake_counts(&nine).handles, 0); /* the exception is not pinned any more */
    CHECK_EQ(why[0], '\0');
    wait_for(&eight, FAKECLR_DETACHED);
    wait_for(&nine, FAKECLR_DETACHED);
    CHECK_EQ(n_released, 2);
    CHECK_EQ(begin_with("spy", why), -ENOTSUP);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
}

static void a_detach_ends_the_session_and_lets_the_runtimes_go(void **state)
{
    (void)state;
    PASSES(detach_body);
}

static void first_body(void)
{
    char why[SXS_SESSION_WHY];
    setenv("SXSPROF_TOOLS", "spy:first;sample", 1);
    snprintf(out, sizeof(out), "%s/out", temporary());
    setenv("SXSPROF_OUT", out, 1);
    profile_without_signals(tools, ARRAY_LEN(tools));
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    CHECK_EQ(phase(), SXS_SESSION_ON);
    CHECK_EQ(n_started, 2);
    must_end();
    CHECK_EQ(n_released, 2);
    must_begin("spy:first"); /* the runtimes were asked for these events in Initialize */
    must_end();
    capture();
    CHECK_EQ(sxs_runtimes_detach(1000, why), -ENOTSUP);
    captured();
    CHECK(strstr(why, "cannot be detached"));
    must_begin("spy"); /* all is as before */
    fake_raise0(&eight, "JITCompilationFinished", 0x1234, 0);
    CHECK(atomic_load(&sxs_session_row(1)->methods) > 0);
    must_end();
    end_two();
}

static void the_session_of_the_environment_ends_and_immutable_events_stay(void **state)
{
    (void)state;
    PASSES(first_body);
}

/* ---- a runtime that does not return ---------------------------------------------------------- */

static _Atomic int      lets_go = 0; /* 1: calls return */
static _Atomic unsigned n_pipe_starts, n_pipe_stops;

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
    return S_OK;
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
    usleep(1500000); /* longer than a runtime is left alone at first */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_ends_although_a_runtime_does_not_return),
        cmocka_unit_test_setup(sessions_begin_and_end_while_threads_raise_events,
                               plain_environment),
        cmocka_unit_test_setup(
            samples_are_taken_in_each_session_and_no_thread_or_descriptor_is_left,
            plain_environment),
        cmocka_unit_test_setup(a_session_that_cannot_begin_says_why_and_leaves_nothing,
                               plain_environment),
        cmocka_unit_test_setup(
            a_session_records_the_runtimes_that_it_picks_and_a_request_joins_its_own,
            plain_environment),
        cmocka_unit_test_setup(
            a_thread_that_stays_in_a_handler_keeps_its_memory_until_it_has_come_back,
            plain_environment),
        cmocka_unit_test_setup(the_counts_of_each_session_begin_at_zero_at_the_same_address,
                               plain_environment),
        cmocka_unit_test_setup(runtimes_start_and_end_and_children_fork_meanwhile,
                               plain_environment),
        cmocka_unit_test_setup(a_detach_ends_the_session_and_lets_the_runtimes_go,
                               plain_environment),
        cmocka_unit_test_setup(the_session_of_the_environment_ends_and_immutable_events_stay,
                               plain_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
