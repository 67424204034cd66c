/* SPDX-License-Identifier: MIT */
/* test_manager.c - several runtimes, one manager: numbers, Infos, who is picked, every kind of end. */
#include <errno.h>

#include "callback/guid.h"
#include "manager/runtime_internal.h"
#include "record/session_write.h"
#include "tests/unit/fake_host.h"
#include "tools/tools.h"

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

/* Sanitizers take many times as long. */
#ifdef SXS_SANITIZED
#define MANY 25
#else
#define MANY 100
#endif

static const char *const versions[] = {"2.0", "4.0", "3.1", "5.0", "6.0",
                                       "7.0", "8.0", "9.0", "10.0"};

/* ---- a tool that keeps what it is shown ------------------------------------------------------ */

#define MAX_KEPT 16
static _Atomic unsigned    n_kept, jitted[MAX_KEPT + 1], stopped[MAX_KEPT + 1]; /* by number */
static struct sxs_runtime *kept[MAX_KEPT + 1];
static _Atomic int         stop_was_detach;

static HRESULT saw_jit(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    CHECK(function.rt == sub->rt);
    atomic_fetch_add((_Atomic unsigned *)sub->state, 1);
    return S_OK;
}

static const struct sxs_events keeper_events = {.JITCompilationStarted = saw_jit};

static HRESULT keeper_start(struct sxs_sub *sub, const char *options)
{
    unsigned number = sxs_runtime_number(sub->rt);
    (void)options;
    CHECK(number >= 1 && number <= MAX_KEPT);
    sub->state = &jitted[number];
    sub->low = LOW(JIT_COMPILATION);
    kept[number] = sub->rt;
    atomic_fetch_add(&n_kept, 1);
    return S_OK;
}

static void keeper_stop(struct sxs_sub *sub, int detached)
{
    atomic_fetch_add(&stopped[sxs_runtime_number(sub->rt)], 1);
    atomic_store(&stop_was_detach, detached);
}

static const struct sxs_tool        keeper = {.name = "keeper",
                                              .always = 1,
                                              .on = &keeper_events,
                                              .start = keeper_start,
                                              .stop = keeper_stop};
static const struct sxs_tool *const keep[] = {&keeper};
static const struct sxs_tool *const real_tools[] = {&sxs_guard_tool, &sxs_census_tool, &keeper};

static void prepare(void)
{
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(keep, ARRAY_LEN(keep));
}

static unsigned rows_in_state(enum sxs_state state)
{
    struct sxs_census *c = sxs_session_open(NULL);
    unsigned           n = 0;
    for (unsigned i = 0; i < SXS_MAX_RUNTIMES; i++)
        n += atomic_load(&c->runtimes[i].state) == state;
    return n;
}

static enum sxs_state state_of(unsigned number)
{
    return (enum sxs_state)atomic_load(&sxs_session_open(NULL)->runtimes[number - 1].state);
}

static void jit_one(const struct fake_host *h)
{
    fake_raise0(h, "JITCompilationStarted", 0x1234, 1);
}

/* ---- who is who ------------------------------------------------------------------------------ */

static void own_info_body(void)
{
    static const unsigned info_version[] = {2, 4, 11, 12, 12, 13, 14, 15, 15};
    static const char    *named[] = {"2.0",   "4.0.30319", "3.1.0", "5.0.0", "6.0.0",
                                     "7.0.0", "8.0.0",     "9.0.0", "10.0.0"};
    struct fake_host      h[ARRAY_LEN(versions)];
    prepare();
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        h[i] = fake_start(versions[i]);
        CHECK_EQ(n_kept, i + 1);
        CHECK_EQ(sxs_runtime_number(kept[i + 1]), i + 1);
        CHECK(strcmp(sxs_runtime_version(kept[i + 1]), named[i]) == 0);
        CHECK(strcmp(sxs_runtime_path(kept[i + 1]), h[i].path) == 0);
        CHECK_EQ(sxs_runtime_info_version(kept[i + 1]), info_version[i]);
        CHECK(sxs_runtime_is_live(kept[i + 1]) && sxs_runtime_is_picked(kept[i + 1]));
        CHECK_EQ(fake_counts(&h[i]).info_refs, 1);
    }
    struct sxs_runtime *live[32];
    CHECK_EQ(sxs_runtimes_live(live, 4), 4);
    for (int i = 0; i < 4; i++)
        sxs_runtime_unref(live[i]);
    size_t n = sxs_runtimes_live(live, 32);
    CHECK_EQ(n, ARRAY_LEN(versions));
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(sxs_runtime_number(live[i]), i + 1); /* in order of arrival */
        sxs_runtime_unref(live[i]);
    }
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        jit_one(&h[i]);
        CHECK_EQ(jitted[i + 1], 1);
        fake_end(&h[i]); /* its Info: one reference, released once */
    }
    CHECK_EQ(sxs_runtimes_live(live, 32), 0);
}

static void each_runtime_has_its_number_and_the_newest_info_it_offers(void **state)
{
    (void)state;
    PASSES(own_info_body);
}

/* What Initialize is handed refuses every interface. */
static HRESULT refuse_query(IUnknown *self, REFIID iid, void **out)
{
    (void)self;
    (void)iid;
    *out = NULL;
    return E_NOINTERFACE;
}

static ULONG count_nothing(IUnknown *self)
{
    (void)self;
    return 1;
}

static ICorProfilerCallback11 *new_instance(HRESULT expected)
{
    IClassFactory          *factory = NULL;
    ICorProfilerCallback11 *cb = NULL;
    GUID                    clsid = {0};
    CHECK_EQ(fake_host_class_object(&clsid, &IID_IClassFactory, (void **)&factory), S_OK);
    CHECK_EQ(factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2, (void **)&cb),
             expected);
    CHECK_EQ(cb != NULL, expected == S_OK);
    return cb;
}

static HRESULT fail_to_initialize(ICorProfilerCallback11 *cb)
{
    static const IUnknownVtbl vtbl = {
        .QueryInterface = refuse_query, .AddRef = count_nothing, .Release = count_nothing};
    IUnknown nothing = {&vtbl};
    capture();
    HRESULT     hr = cb->vtbl->Initialize(cb, &nothing);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "runs unprofiled"));
    return hr;
}

static void no_info_body(void)
{
    prepare();
    struct fake_host        nine = fake_start("9.0");
    ICorProfilerCallback11 *cb = new_instance(S_OK);
    CHECK_EQ(fail_to_initialize(cb), E_NOINTERFACE);
    CHECK_EQ(state_of(2), SXS_STATE_CANCELLED);
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    struct fake_host eight = fake_start("8.0");
    CHECK_EQ(sxs_runtime_number(kept[3]), 3);
    jit_one(&nine);
    CHECK_EQ(jitted[1], 1);
    fake_end(&nine);
    fake_end(&eight);
}

static void an_info_without_any_known_interface_fails_that_runtime_alone(void **state)
{
    (void)state;
    PASSES(no_info_body);
}

/* ---- IDs of others --------------------------------------------------------------------------- */

static struct fake_host eight, nine;

static void foreign_call(void)
{
    struct sxs_runtime *rt8, *rt9;
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    rt8 = kept[1];
    rt9 = kept[2];
    ModuleID   module = nine.c->module_load("/fake/app.dll");
    ClassID    type = nine.c->class_new(module, "A.B", 0, 0, NULL);
    FunctionID function = nine.c->method_new(type, "M", NULL, 0, 0, NULL);
    sxs_class  cls;
    sxs_module mod;
    mdToken    token;
    /* to its own: fine */
    CHECK_EQ(sxs_info_GetFunctionInfo(rt9, (sxs_function){rt9, function}, &cls, &mod, &token),
             S_OK);
    CHECK(cls.rt == rt9 && cls.id == type && mod.rt == rt9 && mod.id == module);
    capture();
    CHECK_EQ(sxs_info_GetFunctionInfo(rt8, (sxs_function){rt9, function}, &cls, &mod, &token),
             E_INVALIDARG);
    CHECK_EQ(sxs_info_GetFunctionInfo(rt8, (sxs_function){NULL, function}, &cls, &mod, &token),
             E_INVALIDARG);
    CHECK_EQ(sxs_info_GetModuleInfo(rt8, mod, NULL, 0, NULL, NULL, NULL), E_INVALIDARG);
    CHECK_EQ(sxs_info_GetClassIDInfo(rt8, cls, NULL, NULL), E_INVALIDARG);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 4);
    CHECK(strstr(said, "GetFunctionInfo of runtime 1 was handed an ID of runtime 2: refused"));
    CHECK_EQ(fake_counts(&eight).foreign_ids, 0);
    fake_end(&eight);
    fake_end(&nine);
}

static void an_id_of_another_runtime_never_reaches_an_info(void **state)
{
    (void)state;
#ifdef NDEBUG
    PASSES(foreign_call);
#else
    ENDS_BY(foreign_call, SIGABRT);
#endif
}

/* ---- ends ------------------------------------------------------------------------------------ */

static const unsigned *ends_in; /* the permutation at hand */

static void ends_body(void)
{
    static const char *const three[] = {"3.1", "8.0", "10.0"};
    struct fake_host         h[3];
    int                      gone[3] = {0};
    prepare();
    for (int i = 0; i < 3; i++)
        h[i] = fake_start(three[i]);
    for (int step = 0; step < 3; step++) {
        unsigned            ending = ends_in[step];
        struct sxs_runtime *rt = sxs_runtime_ref(kept[ending + 1]);
        fake_end(&h[ending]);
        gone[ending] = 1;
        CHECK_EQ(stopped[ending + 1], 1);
        CHECK_EQ(stop_was_detach, 0);
        CHECK(!sxs_runtime_is_live(rt));
        DWORD low;
        CHECK_EQ(sxs_info_GetEventMask(rt, &low), CORPROF_E_RUNTIME_UNINITIALIZED);
        sxs_runtime_unref(rt);
        for (int i = 0; i < 3; i++) {
            unsigned before = jitted[i + 1];
            jit_one(&h[i]);
            CHECK_EQ(jitted[i + 1], before + !gone[i]);
        }
        CHECK(sxs_session_row(ending + 1)->ended_ns != 0);
    }
}

static void runtimes_end_in_any_order(void **state)
{
    static const unsigned all[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        ends_in = all[i];
        PASSES(ends_body);
    }
}

static void wait_for(const struct fake_host *h, enum fakeclr_load state)
{
    for (int i = 0; i < 20000 && h->c->load_state() != state; i++)
        usleep(500);
    CHECK_EQ(h->c->load_state(), state);
}

static void detach_body(void)
{
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    fake_run(&eight, "!detach");
    wait_for(&eight, FAKECLR_DETACHED);
    CHECK_EQ(stopped[1], 1);
    CHECK_EQ(stop_was_detach, 1);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
    unsigned before = jitted[1];
    fake_run(&eight, "!jit 3; gc 1");
    CHECK_EQ(jitted[1], before);
    jit_one(&nine);
    CHECK(jitted[2] > 0);
    struct sxs_runtime *live[4];
    CHECK_EQ(sxs_runtimes_live(live, 4), 1);
    CHECK_EQ(sxs_runtime_number(live[0]), 2);
    sxs_runtime_unref(live[0]);
    fake_end(&eight);
    fake_end(&nine);
    CHECK_EQ(stopped[1], 1);
}

static void one_runtime_detaches_and_the_others_go_on(void **state)
{
    (void)state;
    PASSES(detach_body);
}

static _Atomic int racing;
static void       *raise_for_ever(void *arg)
{
    const struct fake_host *h = arg;
    while (atomic_load(&racing))
        jit_one(h);
    return NULL;
}

static void *ask_for_ever(void *arg)
{
    struct sxs_runtime *rt = arg;
    HRESULT             hr;
    DWORD               low;
    do {
        hr = sxs_info_GetEventMask(rt, &low);
        CHECK(hr == S_OK || hr == CORPROF_E_RUNTIME_UNINITIALIZED);
    } while (hr == S_OK);
    sxs_runtime_unref(rt);
    return NULL;
}

static void race_body(void)
{
    pthread_t raising[2], asking[2];
    prepare();
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    atomic_store(&racing, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&raising[i], NULL, raise_for_ever, &eight), 0);
        CHECK_EQ(pthread_create(&asking[i], NULL, ask_for_ever, sxs_runtime_ref(kept[1])), 0);
    }
    while (atomic_load(&jitted[1]) < 50)
        usleep(100);
    int code;
    CHECK_EQ(eight.shutdown(eight.host, eight.domain, &code), S_OK);
    for (int i = 0; i < 2; i++)
        pthread_join(asking[i], NULL);
    atomic_store(&racing, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(raising[i], NULL);
    CHECK_EQ(fake_counts(&eight).info_refs, 0);
    CHECK_EQ(stopped[1], 1);
    fake_end(&nine);
}

static void events_and_calls_may_race_with_shutdown(void **state)
{
    (void)state;
    for (int i = 0; i < MANY / 5; i++)
        PASSES(race_body);
}

/* ---- Initialize that fails half-way ---------------------------------------------------------- */

static const char *failing; /* "METHOD=HRESULT@NTH" */
static unsigned    fails_at;

static void half_way_body(void)
{
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(real_tools, ARRAY_LEN(real_tools));
    nine = fake_start("9.0");
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call(failing, E_OUTOFMEMORY, fails_at), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    captured();
    eight.c->fail_call(failing, S_OK, 0);
    CHECK_EQ(fake_counts(&eight).info_refs, eight.c->load_state() == FAKECLR_ACTIVE);
    fake_run(&eight, "!modules 2; jit 5; throw 1");
    jit_one(&nine);
    CHECK(jitted[1] > 0);
    struct fake_host ten = fake_start("10.0");
    fake_end(&eight);
    fake_end(&ten);
    fake_end(&nine);
}

static void a_runtime_whose_info_fails_half_way_harms_nobody(void **state)
{
    static const char *const methods[] = {"GetRuntimeInformation", "SetEventMask2", "SetEventMask",
                                          "GetEventMask2", "GetEventMask"};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(methods); i++) {
        for (fails_at = 0; fails_at <= 3; fails_at++) {
            failing = methods[i];
            PASSES(half_way_body);
        }
    }
}

static void no_mask_body(void)
{
    prepare();
    nine = fake_start("9.0");
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call("SetEventMask2", E_OUTOFMEMORY, 0), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool keeper is off for runtime 2"));
    uint64_t args[2] = {1, 1};
    eight.c->raise("JITCompilationStarted", 1, 2, args);
    CHECK_EQ(jitted[2], 0);
    fake_end(&eight);
    fake_end(&nine);
}

static void a_runtime_that_refuses_every_mask_runs_without_tools(void **state)
{
    (void)state;
    PASSES(no_mask_body);
}

static void no_name_body(void)
{
    prepare();
    setenv("SXSPROF_LOG", "info", 1);
    eight = fake_load("8.0");
    CHECK_EQ(eight.c->fail_call("GetRuntimeInformation", E_FAIL, 0), S_OK);
    capture();
    CHECK_EQ(fake_initialize(&eight), S_OK);
    CHECK(strstr(captured(), "does not say its version"));
    CHECK(strcmp(sxs_runtime_version(kept[1]), "8.0") == 0); /* what its path says */
    fake_end(&eight);
}

static void a_runtime_that_does_not_say_its_version_is_named_by_its_path(void **state)
{
    (void)state;
    PASSES(no_name_body);
}

/* ---- who is picked --------------------------------------------------------------------------- */

static const char *unpicked; /* the value at hand */

static void first_body(void)
{
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    int cancels = strcmp(unpicked, "cancel") == 0;
    nine = fake_start("9.0");
    eight = fake_start("8.0");
    CHECK_EQ(state_of(1), SXS_STATE_PICKED);
    CHECK_EQ(state_of(2), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
    CHECK_EQ(eight.c->load_state(), cancels ? FAKECLR_FAILED : FAKECLR_ACTIVE);
    CHECK_EQ(eight.c->load_result(), cancels ? E_FAIL : S_OK);
    CHECK_EQ(n_kept, 1);
    /* it was the one, and stays it when it has ended: others may get its memory, not its place */
    fake_end(&nine);
    fake_end(&eight);
    for (unsigned i = 0; i < 6; i++) {
        struct fake_host h = fake_start(versions[i]);
        CHECK_EQ(state_of(3 + i), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
        fake_end(&h);
    }
    CHECK_EQ(n_kept, 1);
}

static void the_first_is_the_only_one_even_when_it_has_ended(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(first_body);
    unpicked = "cancel";
    PASSES(first_body);
}

static void first_fails_body(void)
{
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    ICorProfilerCallback11 *cb = new_instance(S_OK);
    CHECK(FAILED(fail_to_initialize(cb)));
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    cb = new_instance(S_OK); /* comes first, but is let go of before Initialize */
    CHECK_EQ(cb->vtbl->Release(cb), 0);
    nine = fake_start("9.0");
    CHECK_EQ(state_of(3), SXS_STATE_PICKED);
    eight = fake_start("8.0");
    CHECK(state_of(4) != SXS_STATE_PICKED);
    fake_end(&nine);
    fake_end(&eight);
}

static void when_the_first_fails_the_next_is_picked(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(first_fails_body);
    unpicked = "cancel";
    PASSES(first_fails_body);
}

static void first_fails_late_body(void)
{
    struct fakeclr_counts n;
    setenv("SXSPROF_PICK", "first", 1);
    prepare();
    ICorProfilerCallback11 *one = new_instance(S_OK), *two = new_instance(S_OK);
    CHECK(FAILED(fail_to_initialize(one)));
    unsetenv("CORECLR_ENABLE_PROFILING");
    eight = fake_start("8.0"); /* lends its Info; refuses calls, for it has no profiler */
    capture();
    CHECK_EQ(two->vtbl->Initialize(two, eight.c->info()), S_OK);
    captured();
    CHECK_EQ(state_of(2), SXS_STATE_PICKED);
    CHECK_EQ(one->vtbl->Release(one), 0);
    CHECK_EQ(two->vtbl->Release(two), 0);
    eight.c->counts(&n);
    CHECK_EQ(n.info_refs, 0);
}

static void that_holds_for_one_that_was_admitted_before_the_first_failed(void **state)
{
    (void)state;
    PASSES(first_fails_late_body);
}

static pthread_barrier_t gate;
static void             *start_at_the_gate(void *arg)
{
    struct fake_host *h = arg;
    pthread_barrier_wait(&gate);
    CHECK_EQ(fake_initialize(h), S_OK);
    return NULL;
}

static void at_once_body(void)
{
    enum { N = 8 };
    struct fake_host h[N];
    pthread_t        threads[N];
    int              active = 0;
    setenv("SXSPROF_PICK", "first", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    for (int i = 0; i < N; i++)
        h[i] = fake_load(versions[i]);
    pthread_barrier_init(&gate, NULL, N);
    for (int i = 0; i < N; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, start_at_the_gate, &h[i]), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(n_kept, 1);
    CHECK_EQ(rows_in_state(SXS_STATE_PICKED), 1);
    for (int i = 0; i < N; i++)
        active += h[i].c->load_state() == FAKECLR_ACTIVE;
    if (strcmp(unpicked, "guard") == 0) {
        CHECK_EQ(rows_in_state(SXS_STATE_GUARDED), N - 1);
        CHECK_EQ(active, N);
    } else {
        CHECK_EQ(rows_in_state(SXS_STATE_CANCELLED), N - 1);
        CHECK_EQ(active, 1);
    }
    for (int i = 0; i < N; i++)
        fake_end(&h[i]);
}

static void of_eight_that_arrive_at_once_exactly_one_is_first(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * MANY; i++) {
        unpicked = i % 2 ? "guard" : "cancel";
        PASSES(at_once_body);
    }
}

static const char *wanted;   /* what SXSPROF_PICK=one: names */
static unsigned    expected; /* the number of the one that it names */

static void one_body(void)
{
    char pick[1200];
    snprintf(pick, sizeof(pick), "one:%s", wanted);
    setenv("SXSPROF_PICK", pick, 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    prepare();
    struct fake_host h[ARRAY_LEN(versions)];
    int              cancels = strcmp(unpicked, "cancel") == 0;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        h[i] = fake_start(versions[i]);
        if (i + 1 == expected) {
            CHECK_EQ(state_of(i + 1), SXS_STATE_PICKED);
        } else {
            CHECK_EQ(state_of(i + 1), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
            CHECK_EQ(h[i].c->load_state(), cancels ? FAKECLR_CANCELLED : FAKECLR_ACTIVE);
            if (cancels)
                CHECK_EQ(h[i].c->load_result(), CORPROF_E_PROFILER_CANCEL_ACTIVATION);
        }
    }
    CHECK_EQ(n_kept, expected != 0);
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++)
        fake_end(&h[i]);
}

static void one_is_picked_by_version_or_path_and_the_others_are_not(void **state)
{
    static const struct {
        const char *what;
        unsigned    number;
    } rows[] = {{"2", 1}, {"2.0", 1},    {"4.0", 2}, {"3.1", 3},
                {"8", 7}, {"10.0.0", 9}, {"1", 0},   {"8.1", 0}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        unpicked = i ? "cancel" : "guard";
        for (unsigned k = 0; k < ARRAY_LEN(rows); k++) {
            wanted = rows[k].what;
            expected = rows[k].number;
            PASSES(one_body);
        }
        wanted = built("fakeclr/9.0/../9.0/libcoreclr.so");
        expected = 8;
        char *copy = strdup(wanted);
        wanted = copy;
        PASSES(one_body);
        free(copy);
    }
}

/* ---- attach ---------------------------------------------------------------------------------- */

static void attach_body(void)
{
    GUID clsid = {0};
    prepare();
    setenv("SXSPROF_PICK", "one:9", 1);
    setenv("SXSPROF_UNPICKED", unpicked, 1);
    unsetenv("CORECLR_ENABLE_PROFILING");
    eight = fake_start("8.0");
    nine = fake_start("9.0");
    int cancels = strcmp(unpicked, "cancel") == 0;
    CHECK_EQ(eight.c->attach("@program:fake_host_class_object", &clsid, NULL, 0),
             cancels ? CORPROF_E_PROFILER_CANCEL_ACTIVATION : S_OK);
    CHECK_EQ(nine.c->attach("@program:fake_host_class_object", &clsid, NULL, 0), S_OK);
    CHECK_EQ(state_of(1), cancels ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED);
    CHECK_EQ(state_of(2), SXS_STATE_PICKED);
    CHECK(kept[2]->attached);
    jit_one(&nine);
    CHECK_EQ(jitted[2], 1);
    fake_end(&eight);
    fake_end(&nine);
}

static void an_attach_is_decided_like_a_start(void **state)
{
    (void)state;
    unpicked = "guard";
    PASSES(attach_body);
    unpicked = "cancel";
    PASSES(attach_body);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void many_body(void)
{
    ICorProfilerCallback11 *all[SXS_MAX_RUNTIMES + 6];
    setenv("SXSPROF_SIGNALS", "off", 1);
    prepare();
    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
        all[i] = new_instance(S_OK);
    CHECK_EQ(sxs_session_open(NULL)->n_runtimes, SXS_MAX_RUNTIMES);
    CHECK_EQ(sxs_session_open(NULL)->n_unlisted, 6);
    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
        CHECK_EQ(all[i]->vtbl->Release(all[i]), 0);
}

static void more_runtimes_than_rows_are_admitted_all_the_same(void **state)
{
    (void)state;
    PASSES(many_body);
}

#ifndef SXS_SANITIZED                 /* sanitizers have a calloc of their own */
static __thread int calloc_left = -1; /* calls that still succeed; -1: all */
static __thread int calloc_failed;

extern void                                 *__libc_calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    if (calloc_left == 0) {
        calloc_failed++;
        errno = ENOMEM;
        return NULL;
    }
    if (calloc_left > 0)
        calloc_left--;
    return __libc_calloc(n, size);
}

static void no_memory_body(void)
{
    IClassFactory *factory = NULL;
    GUID           clsid = {0};
    int            refused = 0;
    setenv("SXSPROF_PICK", "first", 1);
    prepare();
    CHECK_EQ(fake_host_class_object(&clsid, &IID_IClassFactory, (void **)&factory), S_OK);
    for (int succeed = 0;; succeed++) {
        void *cb = (void *)1;
        calloc_left = succeed;
        calloc_failed = 0;
        HRESULT hr = factory->vtbl->CreateInstance(factory, NULL, &IID_ICorProfilerCallback2, &cb);
        calloc_left = -1;
        if (hr == S_OK) {
            ICorProfilerCallback11 *made = cb;
            CHECK_EQ(made->vtbl->Release(made), 0);
            if (calloc_failed == 0)
                break;
            continue;
        }
        CHECK_EQ(hr, E_OUTOFMEMORY);
        CHECK(cb == NULL && calloc_failed);
        refused++;
    }
    CHECK(refused >= 2);      /* the runtime, the callback object */
    nine = fake_start("9.0"); /* none of those was the first */
    CHECK_EQ(n_kept, 1);
    CHECK_EQ(rows_in_state(SXS_STATE_PICKED), 1);
    fake_end(&nine);
}
#endif

static void without_memory_an_instance_is_refused_and_nothing_else_happens(void **state)
{
    (void)state;
#ifdef SXS_SANITIZED
    skip();
#else
    PASSES(no_memory_body);
#endif
}

/* ---- the library's own tools ----------------------------------------------------------------- */

static void census_body(void)
{
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(real_tools, ARRAY_LEN(real_tools));
    nine = fake_start("9.0");
    eight = fake_start("8.0");
    struct sxs_census_runtime *a = sxs_session_row(1), *b = sxs_session_row(2);
    uint64_t                   modules = a->modules, threads = a->threads;
    fake_run(&nine, "!modules 3; jit 10; throw 2; gc 4; threads 2; join");
    CHECK_EQ(a->modules - modules, 3);
    CHECK_EQ(a->methods, 10);
    CHECK_EQ(a->exceptions, 2);
    CHECK_EQ(a->gcs, 4);
    CHECK_EQ(a->threads - threads, 2);
    CHECK_EQ(b->methods, 0);
    CHECK_EQ(b->gcs, 0);
    fake_run(&eight, "!jit 1; gc 1");
    CHECK_EQ(b->methods, 1);
    CHECK_EQ(b->gcs, 1);
    CHECK_EQ(a->methods, 10);
    fake_end(&nine);
    CHECK(a->ended_ns >= a->started_ns && b->ended_ns == 0);
    fake_end(&eight);
}

static void the_census_counts_each_runtimes_own(void **state)
{
    (void)state;
    PASSES(census_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runtime_has_its_number_and_the_newest_info_it_offers),
        cmocka_unit_test(an_info_without_any_known_interface_fails_that_runtime_alone),
        cmocka_unit_test(an_id_of_another_runtime_never_reaches_an_info),
        cmocka_unit_test(runtimes_end_in_any_order),
        cmocka_unit_test(one_runtime_detaches_and_the_others_go_on),
        cmocka_unit_test(events_and_calls_may_race_with_shutdown),
        cmocka_unit_test(a_runtime_whose_info_fails_half_way_harms_nobody),
        cmocka_unit_test(a_runtime_that_refuses_every_mask_runs_without_tools),
        cmocka_unit_test(a_runtime_that_does_not_say_its_version_is_named_by_its_path),
        cmocka_unit_test(the_first_is_the_only_one_even_when_it_has_ended),
        cmocka_unit_test(when_the_first_fails_the_next_is_picked),
        cmocka_unit_test(that_holds_for_one_that_was_admitted_before_the_first_failed),
        cmocka_unit_test(of_eight_that_arrive_at_once_exactly_one_is_first),
        cmocka_unit_test(one_is_picked_by_version_or_path_and_the_others_are_not),
        cmocka_unit_test(an_attach_is_decided_like_a_start),
        cmocka_unit_test(more_runtimes_than_rows_are_admitted_all_the_same),
        cmocka_unit_test(without_memory_an_instance_is_refused_and_nothing_else_happens),
        cmocka_unit_test(the_census_counts_each_runtimes_own),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
