/* SPDX-License-Identifier: MIT */
/* fakeclr_fixture.h - a minimal profiler, and a new simulated runtime for each test.
 *
 * Link with -rdynamic, because the profiler is in this file. FAKECLR_DIR is the folder of the
 * runtimes; by default fakeclr/ beside the folder of the program. */
#ifndef SXS_TESTS_FAKECLR_FIXTURE_H
#define SXS_TESTS_FAKECLR_FIXTURE_H

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fake/fakeclr.h"

#define PROFILER "@program:test_class_object"
#define CLSID_TEXT "{A1B2C3D4-0001-0002-0304-05060708090A}"

/* -- A minimal profiler: one object per runtime, every slot returns S_OK -- */

struct profiler {
    const ICorProfilerCallback11Vtbl *vtbl; /* first: the runtime holds this address */
    _Atomic unsigned refs;
    ICorProfilerInfo15 *info;
    _Atomic unsigned events, jitted, detached, rejit_parameters;
    FunctionID last_jitted;
};

static struct {
    unsigned newest_callback;    /* highest version of ICorProfilerCallback that it supports */
    HRESULT initialize_returns;
    uint32_t low, high;          /* mask set in Initialize */
    struct profiler *last;       /* created last; not freed */
    const char *path_used;
} setup;
static struct profiler made[64];
static unsigned n_made;
static union {
    ICorProfilerCallback11Vtbl vtbl;
    HRESULT (*slots[SXS_N_CALLBACK_SLOTS])(struct profiler *self);
} table;

static inline HRESULT any_event(struct profiler *self)
{
    atomic_fetch_add(&self->events, 1);
    return S_OK;
}

static inline HRESULT p_query(ICorProfilerCallback11 *self, REFIID iid, void **out)
{
    *out = NULL;
    for (unsigned i = 0; i <= setup.newest_callback; i++)
        if (memcmp(iid, sxs_callback_iids[i], sizeof(*iid)) == 0)
            *out = self;
    if (!*out)
        return E_NOINTERFACE;
    self->vtbl->AddRef(self);
    return S_OK;
}

static inline ULONG p_add_ref(ICorProfilerCallback11 *self)
{
    return atomic_fetch_add(&((struct profiler *)self)->refs, 1) + 1;
}

static inline ULONG p_release(ICorProfilerCallback11 *self)
{
    return atomic_fetch_sub(&((struct profiler *)self)->refs, 1) - 1;
}

static inline HRESULT p_initialize(ICorProfilerCallback11 *self, IUnknown *info)
{
    struct profiler *p = (struct profiler *)self;
    p->info = (ICorProfilerInfo15 *)info; /* borrowed, so that a leak would show */
    if (SUCCEEDED(setup.initialize_returns))
        p->info->vtbl->SetEventMask(p->info, setup.low);
    return setup.initialize_returns;
}

static inline HRESULT p_attach(ICorProfilerCallback11 *self, IUnknown *info, void *data, UINT size)
{
    struct profiler *p = (struct profiler *)self;
    p->info = (ICorProfilerInfo15 *)info;
    return size == 3 && memcmp(data, "abc", 3) == 0 ? S_OK : E_INVALIDARG;
}

static inline HRESULT p_jit(ICorProfilerCallback11 *self, FunctionID function, BOOL safe)
{
    struct profiler *p = (struct profiler *)self;
    (void)safe;
    p->last_jitted = function;
    atomic_fetch_add(&p->jitted, 1);
    return S_OK;
}

static inline HRESULT p_detached(ICorProfilerCallback11 *self)
{
    atomic_store(&((struct profiler *)self)->detached, 1);
    return S_OK;
}

static inline HRESULT p_notification_only(ICorProfilerCallback11 *self, BOOL *out)
{
    (void)self;
    *out = 0;
    return S_OK;
}

static inline HRESULT p_rejit(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef method,
                       ICorProfilerFunctionControl *control)
{
    static const uint8_t il[] = {0x06, 0x2A};
    (void)module;
    (void)method;
    atomic_fetch_add(&((struct profiler *)self)->rejit_parameters, 1);
    return control->vtbl->SetILFunctionBody(control, sizeof(il), il);
}

static inline HRESULT f_create(IClassFactory *self, IUnknown *outer, REFIID iid, void **out)
{
    (void)self;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    struct profiler *p = &made[n_made++ % 64];
    *p = (struct profiler){.vtbl = &table.vtbl, .refs = 1};
    setup.last = p;
    HRESULT hr = p_query((ICorProfilerCallback11 *)p, iid, out);
    p_release((ICorProfilerCallback11 *)p);
    return hr;
}

static inline HRESULT f_query(IClassFactory *self, REFIID iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static inline ULONG f_count(IClassFactory *self)
{
    (void)self;
    return 1;
}

__attribute__((visibility("default"))) HRESULT test_class_object(const GUID *clsid, const GUID *iid,
                                                                 void **out);
HRESULT test_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    static const IClassFactoryVtbl vtbl = {
        .QueryInterface = f_query,
        .AddRef = f_count,
        .Release = f_count,
        .CreateInstance = f_create,
    };
    static IClassFactory factory = {&vtbl};
    assert_memory_equal(iid, &IID_IClassFactory, sizeof(*iid));
    assert_int_equal(clsid->Data1, 0xA1B2C3D4);
    assert_int_equal(clsid->Data4[7], 0x0A);
    *out = &factory;
    return S_OK;
}

/* -- A new runtime for each test: each private copy of the file is a separate runtime -- */

struct runtime {
    const struct fakeclr_control *c;
    struct profiler *p;
    HRESULT (*execute)(void *, unsigned, int, const char **, const char *, unsigned *);
    HRESULT (*shutdown)(void *, unsigned, int *);
    HRESULT (*delegate)(void *, unsigned, const char *, const char *, const char *, void **);
    void *host;
    unsigned domain;
};

static inline void symbol(void *library, const char *name, void *out)
{
    void *at = dlsym(library, name);
    assert_non_null(at);
    memcpy(out, &at, sizeof(at));
}

static inline void *load_copy(const char *version)
{
    const char *dir = getenv("FAKECLR_DIR");
    char self[256] = "", from[512], to[] = "/tmp/test_fakeclr_XXXXXX", bytes[65536];
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    for (int up = 0; up < 2; up++)
        *strrchr(self, '/') = 0;
    if (dir)
        snprintf(from, sizeof(from), "%s/%s/libcoreclr.so", dir, version);
    else
        snprintf(from, sizeof(from), "%s/fakeclr/%s/libcoreclr.so", self, version);
    FILE *in = fopen(from, "re");
    int fd = mkstemp(to);
    assert_non_null(in);
    assert_true(fd >= 0);
    for (size_t n; (n = fread(bytes, 1, sizeof(bytes), in)) > 0;)
        assert_int_equal(write(fd, bytes, n), n);
    fclose(in);
    close(fd);
    void *library = dlopen(to, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    assert_non_null(library);
    unlink(to);
    return library;
}

static inline struct runtime start(const char *version)
{
    struct runtime rt = {0};
    const struct fakeclr_control *(*control)(void);
    HRESULT (*initialize)(const char *, const char *, int, const char **, const char **, void **,
                          unsigned *);
    void *library = load_copy(version);
    symbol(library, "fakeclr_control", &control);
    symbol(library, "coreclr_initialize", &initialize);
    symbol(library, "coreclr_execute_assembly", &rt.execute);
    symbol(library, "coreclr_create_delegate", &rt.delegate);
    symbol(library, "coreclr_shutdown_2", &rt.shutdown);
    rt.c = control();
    setup.last = NULL;
    assert_int_equal(initialize("test", "test", 0, NULL, NULL, &rt.host, &rt.domain), S_OK);
    rt.p = setup.last;
    return rt;
}

static inline void end(struct runtime *rt)
{
    int code;
    struct fakeclr_counts n;
    assert_int_equal(rt->shutdown(rt->host, rt->domain, &code), S_OK);
    rt->c->counts(&n);
    assert_int_equal(n.info_refs, 0);
    assert_int_equal(n.live_objects, 0);
    if (rt->p)
        assert_int_equal(rt->p->refs, 0);
}

static inline int before_each(void **state)
{
    static const char *const kinds[] = {"COR", "CORECLR"};
    (void)state;
    memset(&setup, 0, sizeof(setup));
    setup.newest_callback = 11;
    setup.low = (uint32_t)(COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_ENABLE_STACK_SNAPSHOT);
    for (int i = 0; i < SXS_N_CALLBACK_SLOTS; i++)
        table.slots[i] = any_event;
    table.vtbl.QueryInterface = p_query;
    table.vtbl.AddRef = p_add_ref;
    table.vtbl.Release = p_release;
    table.vtbl.Initialize = p_initialize;
    table.vtbl.InitializeForAttach = p_attach;
    table.vtbl.JITCompilationStarted = p_jit;
    table.vtbl.ProfilerDetachSucceeded = p_detached;
    table.vtbl.LoadAsNotificationOnly = p_notification_only;
    table.vtbl.GetReJITParameters = p_rejit;
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s_ENABLE_PROFILING", kinds[i]);
        setenv(name, "1", 1);
        snprintf(name, sizeof(name), "%s_PROFILER", kinds[i]);
        setenv(name, CLSID_TEXT, 1);
        snprintf(name, sizeof(name), "%s_PROFILER_PATH", kinds[i]);
        setenv(name, PROFILER, 1);
        snprintf(name, sizeof(name), "%s_PROFILER_PATH_64", kinds[i]);
        unsetenv(name);
    }
    unsetenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting");
    unsetenv("FAKECLR_STRICT");
    setenv("FAKECLR_SIGNALS", "off", 1);
    return 0;
}

static inline bool logged(const struct runtime *rt, const char *text)
{
    const char *line;
    for (unsigned i = 0; (line = rt->c->log_line(i)); i++)
        if (strstr(line, text))
            return true;
    return false;
}

#endif
