/* SPDX-License-Identifier: MIT */
/* manager_fixture.h - a tool that records runtimes and events, for tests of the manager. */
#ifndef SXS_TESTS_MANAGER_FIXTURE_H
#define SXS_TESTS_MANAGER_FIXTURE_H

#include <errno.h>

#include "manager/guid.h"
#include "manager/runtime_internal.h"
#include "session/write/session_write.h"
#include "tests/unit/fake_host.h"
#include "tools/tools.h"

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

/* Programs with sanitizers are much slower. */
#ifdef SXS_SANITIZED
#define MANY 25
#else
#define MANY 100
#endif

static const char *const versions[] = {"2.0", "4.0", "3.1", "5.0", "6.0",
                                       "7.0", "8.0", "9.0", "10.0"};

/* ---- a tool that records runtimes and events ------------------------------------------------- */

#define MAX_KEPT 16
static _Atomic unsigned    n_kept, jitted[MAX_KEPT + 1], stopped[MAX_KEPT + 1]; /* by its number */
static struct sxs_runtime *kept[MAX_KEPT + 1];
static _Atomic int         stop_was_detach;

static inline HRESULT saw_jit(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    CHECK(function.rt == sub->rt);
    atomic_fetch_add((_Atomic unsigned *)sub->state, 1);
    return S_OK;
}

static const struct sxs_events keeper_events = {.JITCompilationStarted = saw_jit};

static inline HRESULT keeper_start(struct sxs_sub *sub, const char *options)
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

static inline void keeper_stop(struct sxs_sub *sub, int detached)
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

static inline void prepare(void)
{
    profile_without_signals(keep, ARRAY_LEN(keep));
}

static inline unsigned rows_in_state(enum sxs_state state)
{
    struct sxs_census *c = sxs_session_open(NULL);
    unsigned           n = 0;
    for (unsigned i = 0; i < SXS_MAX_RUNTIMES; i++)
        n += atomic_load(&c->runtimes[i].state) == state;
    return n;
}

static inline enum sxs_state state_of(unsigned number)
{
    return (enum sxs_state)atomic_load(&sxs_session_open(NULL)->runtimes[number - 1].state);
}

static inline void jit_one(const struct fake_host *h)
{
    fake_raise0(h, "JITCompilationStarted", 0x1234, 1);
}

static __attribute__((unused)) struct fake_host eight, nine;

/* QueryInterface of an object without interfaces, which a test passes to Initialize. */
static inline HRESULT refuse_query(IUnknown *self, REFIID iid, void **out)
{
    (void)self;
    (void)iid;
    *out = NULL;
    return E_NOINTERFACE;
}

static inline ULONG count_nothing(IUnknown *self)
{
    (void)self;
    return 1;
}

static inline ICorProfilerCallback11 *new_instance(HRESULT expected)
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

static inline HRESULT fail_to_initialize(ICorProfilerCallback11 *cb)
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

#endif
