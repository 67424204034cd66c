/* SPDX-License-Identifier: MIT */
/* test_fakeclr.c - the simulated runtime keeps a CLR's rules. Link with -rdynamic: the profiler
 * is the one in this file. FAKECLR_DIR: where the versions are; fakeclr/ beside the folder of this
 * program when it is not set. */
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

#include "harness/fakeclr/fakeclr.h"

#define PROFILER "@program:test_class_object"
#define CLSID_TEXT "{A1B2C3D4-0001-0002-0304-05060708090A}"

/* -- A profiler of a page: one object per runtime, every slot answers S_OK -- */

struct profiler {
    const ICorProfilerCallback11Vtbl *vtbl; /* first: the runtime holds this address */
    _Atomic unsigned refs;
    ICorProfilerInfo15 *info;
    _Atomic unsigned events, jitted, detached, rejit_parameters;
    FunctionID last_jitted;
};

static struct {
    unsigned newest_callback;    /* highest ICorProfilerCallback to admit to */
    HRESULT initialize_returns;
    uint32_t low, high;          /* mask set in Initialize */
    struct profiler *last;       /* made most recently; never freed while tests look */
    const char *path_used;
} setup;
static struct profiler made[64];
static unsigned n_made;
static union {
    ICorProfilerCallback11Vtbl vtbl;
    HRESULT (*slots[SXS_N_CALLBACK_SLOTS])(struct profiler *self);
} table;

static HRESULT any_event(struct profiler *self)
{
    atomic_fetch_add(&self->events, 1);
    return S_OK;
}

static HRESULT p_query(ICorProfilerCallback11 *self, REFIID iid, void **out)
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

static ULONG p_add_ref(ICorProfilerCallback11 *self)
{
    return atomic_fetch_add(&((struct profiler *)self)->refs, 1) + 1;
}

static ULONG p_release(ICorProfilerCallback11 *self)
{
    return atomic_fetch_sub(&((struct profiler *)self)->refs, 1) - 1;
}

static HRESULT p_initialize(ICorProfilerCallback11 *self, IUnknown *info)
{
    struct profiler *p = (struct profiler *)self;
    p->info = (ICorProfilerInfo15 *)info; /* borrowed: leaks would show */
    if (SUCCEEDED(setup.initialize_returns))
        p->info->vtbl->SetEventMask(p->info, setup.low);
    return setup.initialize_returns;
}

static HRESULT p_attach(ICorProfilerCallback11 *self, IUnknown *info, void *data, UINT size)
{
    struct profiler *p = (struct profiler *)self;
    p->info = (ICorProfilerInfo15 *)info;
    return size == 3 && memcmp(data, "abc", 3) == 0 ? S_OK : E_INVALIDARG;
}

static HRESULT p_jit(ICorProfilerCallback11 *self, FunctionID function, BOOL safe)
{
    struct profiler *p = (struct profiler *)self;
    (void)safe;
    p->last_jitted = function;
    atomic_fetch_add(&p->jitted, 1);
    return S_OK;
}

static HRESULT p_detached(ICorProfilerCallback11 *self)
{
    atomic_store(&((struct profiler *)self)->detached, 1);
    return S_OK;
}

static HRESULT p_notification_only(ICorProfilerCallback11 *self, BOOL *out)
{
    (void)self;
    *out = 0;
    return S_OK;
}

static HRESULT p_rejit(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef method,
                       ICorProfilerFunctionControl *control)
{
    static const uint8_t il[] = {0x06, 0x2A};
    (void)module;
    (void)method;
    atomic_fetch_add(&((struct profiler *)self)->rejit_parameters, 1);
    return control->vtbl->SetILFunctionBody(control, sizeof(il), il);
}

static HRESULT f_create(IClassFactory *self, IUnknown *outer, REFIID iid, void **out)
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

static HRESULT f_query(IClassFactory *self, REFIID iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static ULONG f_count(IClassFactory *self)
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

/* -- A fresh runtime for each test: a private copy of the file is a runtime of its own -- */

struct runtime {
    const struct fakeclr_control *c;
    struct profiler *p;
    HRESULT (*execute)(void *, unsigned, int, const char **, const char *, unsigned *);
    HRESULT (*shutdown)(void *, unsigned, int *);
    HRESULT (*delegate)(void *, unsigned, const char *, const char *, const char *, void **);
    void *host;
    unsigned domain;
};

static void symbol(void *library, const char *name, void *out)
{
    void *at = dlsym(library, name);
    assert_non_null(at);
    memcpy(out, &at, sizeof(at));
}

static void *load_copy(const char *version)
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

static struct runtime start(const char *version)
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

static void end(struct runtime *rt)
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

static int before_each(void **state)
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

static bool logged(const struct runtime *rt, const char *text)
{
    const char *line;
    for (unsigned i = 0; (line = rt->c->log_line(i)); i++)
        if (strstr(line, text))
            return true;
    return false;
}

/* -- Loading -- */

static void a_profiler_named_in_the_environment_is_created_and_initialized(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    assert_non_null(rt.p);
    assert_int_equal(rt.c->load_state(), FAKECLR_ACTIVE);
    assert_int_equal(rt.c->raised("Initialize"), 1);
    end(&rt);
    assert_int_equal(rt.c->load_state(), FAKECLR_SHUT_DOWN);
    assert_int_equal(rt.c->raised("Shutdown"), 1);
}

static void nothing_is_loaded_when_profiling_is_not_enabled(void **state)
{
    (void)state;
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    struct runtime rt = start("9.0");
    assert_null(rt.p);
    assert_int_equal(rt.c->load_state(), FAKECLR_NOT_ASKED);
    end(&rt);
}

static void the_path_with_the_bitness_wins(void **state)
{
    (void)state;
    setenv("CORECLR_PROFILER_PATH_64", "/nonexistent.so", 1);
    struct runtime rt = start("8.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_FAILED);
    assert_true(logged(&rt, "/nonexistent.so"));
    end(&rt);
}

static void a_profiler_that_cancels_is_released_and_the_runtime_goes_on(void **state)
{
    (void)state;
    setup.initialize_returns = CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    struct runtime rt = start("10.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_CANCELLED);
    assert_int_equal(rt.p->refs, 0);
    assert_false(logged(&rt, "failed"));
    end(&rt);
}

static void a_failed_initialize_is_logged_and_everything_released(void **state)
{
    (void)state;
    setup.initialize_returns = E_FAIL;
    struct runtime rt = start("6.0");
    assert_int_equal(rt.c->load_state(), FAKECLR_FAILED);
    assert_int_equal(rt.c->load_result(), E_FAIL);
    assert_true(logged(&rt, "0x80004005"));
    end(&rt);
}

static void every_row_of_the_compatibility_table_comes_true(void **state)
{
    (void)state;
    struct runtime any = start("8.0");
    size_t n;
    const struct fakeclr_compat_row *rows = any.c->compat_table(&n);
    assert_int_equal(n, 16);
    for (size_t i = 0; i < n; i++) {
        setup.newest_callback = rows[i].v4_profiler ? 4 : 2;
        unsetenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting");
        if (rows[i].setting)
            setenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting", rows[i].setting, 1);
        struct runtime first = start(rows[i].first), second = start(rows[i].second);
        assert_int_equal(first.c->load_state(), rows[i].first_ends);
        assert_int_equal(second.c->load_state(), rows[i].second_ends);
        end(&first);
        end(&second);
    }
    setup.newest_callback = 11;
    end(&any);
}

static void attaching_hands_over_the_client_data(void **state)
{
    (void)state;
    char data[] = "abc";
    GUID clsid = {0xA1B2C3D4, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    struct runtime rt = start("8.0");
    assert_int_equal(rt.c->attach(PROFILER, &clsid, data, 3), S_OK);
    rt.p = setup.last;
    assert_int_equal(rt.c->raised("ProfilerAttachComplete"), 1);
    ICorProfilerInfo15 *info = rt.p->info;
    assert_int_equal(info->vtbl->SetEventMask(info, COR_PRF_MONITOR_JIT_COMPILATION), S_OK);
    assert_int_equal(info->vtbl->SetEventMask(info, COR_PRF_MONITOR_ENTERLEAVE),
                     CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER);
    assert_int_equal(rt.c->attach(PROFILER, &clsid, data, 3),
                     CORPROF_E_PROFILER_ALREADY_ACTIVE);
    end(&rt);
}

static void an_instance_may_be_asked_for_with_aggregation(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    GUID clsid = {0xA1B2C3D4, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
    void *out;
    assert_int_equal(rt.c->create_instance(PROFILER, &clsid, rt.c->info(), &IID_IUnknown, &out),
                     CLASS_E_NOAGGREGATION);
    assert_int_equal(rt.c->create_instance(PROFILER, &clsid, NULL, &IID_IClassFactory, &out),
                     E_NOINTERFACE);
    end(&rt);
}

static void a_detached_profiler_is_released_and_hears_no_more(void **state)
{
    (void)state;
    setup.low = COR_PRF_MONITOR_MODULE_LOADS;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    assert_int_equal(info->vtbl->RequestProfilerDetach(info, 1000), S_OK);
    for (int i = 0; i < 5000 && rt.c->load_state() != FAKECLR_DETACHED; i++)
        usleep(1000);
    assert_int_equal(rt.c->load_state(), FAKECLR_DETACHED);
    assert_int_equal(rt.p->detached, 1);
    assert_int_equal(rt.p->refs, 0);
    unsigned before = rt.p->events;
    rt.c->module_load("/fake/Late.dll");
    assert_int_equal(rt.p->events, before);
    end(&rt);
}

/* -- Info -- */

static void each_version_answers_only_the_infos_it_has(void **state)
{
    static const struct {
        const char *version;
        unsigned newest;
    } rows[] = {{"2.0", 2},  {"4.0", 4},  {"3.1", 11}, {"5.0", 12}, {"6.0", 12},
                {"7.0", 13}, {"8.0", 14}, {"9.0", 15}, {"10.0", 15}};
    (void)state;
    setenv("COMPLUS_ProfAPI_ProfilerCompatibilitySetting", "EnableV2Profiler", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct runtime rt = start(rows[i].version);
        IUnknown *info = rt.c->info();
        for (int v = 0; v < 15; v++) {
            void *out = NULL;
            bool has = sxs_info_versions[v].version <= rows[i].newest;
            HRESULT hr = info->vtbl->QueryInterface(info, sxs_info_versions[v].iid, &out);
            assert_int_equal(hr, has ? S_OK : E_NOINTERFACE);
            if (has)
                info->vtbl->Release(out);
        }
        end(&rt);
    }
}

static void only_the_mask_in_force_lets_events_through(void **state)
{
    (void)state;
    struct runtime eight = start("8.0"), nine = start("9.0");
    uint64_t args[] = {0x77, 1};
    assert_int_equal(eight.c->raise("JITCompilationStarted", 0, 2, args), S_OK);
    assert_int_equal(eight.p->last_jitted, 0x77);
    assert_int_equal(nine.p->last_jitted, 0);
    assert_int_equal(eight.c->raise("ModuleLoadStarted", 0, 1, args), S_FALSE);
    unsigned before = eight.p->events;
    assert_int_equal(eight.c->raise("ModuleLoadStarted", 1, 1, args), S_OK);
    assert_int_equal(eight.p->events, before + 1);
    assert_int_equal(eight.c->raise("NoSuchEvent", 1, 0, NULL), E_INVALIDARG);
    end(&eight);
    end(&nine);
}

static void an_immutable_flag_comes_too_late_after_initialize(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    DWORD low = 0;
    assert_int_equal(info->vtbl->SetEventMask(info, setup.low | (uint32_t)COR_PRF_MONITOR_GC),
                     S_OK);
    assert_int_equal(info->vtbl->SetEventMask(info, (uint32_t)COR_PRF_DISABLE_INLINING),
                     E_FAIL);
    assert_int_equal(info->vtbl->GetEventMask(info, &low), S_OK);
    assert_int_equal(low, setup.low | (uint32_t)COR_PRF_MONITOR_GC);
    end(&rt);
}

static void an_id_of_another_runtime_is_noticed(void **state)
{
    (void)state;
    struct runtime eight = start("8.0"), nine = start("9.0");
    ModuleID module = nine.c->module_load("/fake/Other.dll");
    ICorProfilerInfo15 *info = eight.p->info;
    struct fakeclr_counts n;
    assert_int_equal(info->vtbl->GetModuleInfo(info, module, NULL, 0, NULL, NULL, NULL),
                     E_INVALIDARG);
    eight.c->counts(&n);
    assert_int_equal(n.foreign_ids, 1);
    nine.c->counts(&n);
    assert_int_equal(n.foreign_ids, 0);
    end(&eight);
    end(&nine);
}

static void a_slot_this_version_lacks_is_noticed(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    struct fakeclr_counts n;
    assert_int_equal(rt.p->info->vtbl->EnumerateGCHeapObjects(rt.p->info, NULL, NULL), E_NOTIMPL);
    rt.c->counts(&n);
    assert_int_equal(n.beyond_version, 1);
    end(&rt);
}

static void the_nth_call_of_a_method_fails_on_demand(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    DWORD low;
    assert_int_equal(rt.c->fail_call("GetEventMask", E_OUTOFMEMORY, 2), S_OK);
    assert_int_equal(info->vtbl->GetEventMask(info, &low), S_OK);
    assert_int_equal(info->vtbl->GetEventMask(info, &low), E_OUTOFMEMORY);
    assert_int_equal(info->vtbl->GetEventMask(info, &low), S_OK);
    assert_int_equal(rt.c->fail_call("NoSuchMethod", E_FAIL, 0), E_INVALIDARG);
    end(&rt);
}

static void *name_it(void *arg)
{
    struct runtime *rt = arg;
    ICorProfilerInfo15 *info = rt->p->info;
    IMetaDataImport2 *meta = NULL;
    ClassID type, args[4];
    ModuleID module;
    mdToken token, outer;
    mdTypeDef owner;
    ULONG32 n_args;
    ULONG len, sig_size;
    WCHAR name[64];
    PCCOR_SIGNATURE sig;
    FunctionID fn = rt->p->last_jitted;
    assert_int_equal(info->vtbl->GetFunctionInfo2(info, fn, 0, &type, &module, &token, 4, &n_args,
                                                  args), S_OK);
    assert_int_equal(n_args, 1);
    assert_int_equal(info->vtbl->GetModuleMetaData(info, module, 0, &IID_IMetaDataImport2,
                                                   (IUnknown **)&meta), S_OK);
    assert_int_equal(meta->vtbl->GetMethodProps(meta, token, &owner, name, 64, &len, NULL, &sig,
                                                &sig_size, NULL, NULL), S_OK);
    assert_int_equal(len, 4);
    assert_int_equal(name[0], 'R');
    assert_int_equal(sig_size, 4);
    assert_int_equal(sig[3], ELEMENT_TYPE_I4);
    assert_int_equal(meta->vtbl->GetTypeDefProps(meta, owner, name, 64, &len, NULL, NULL), S_OK);
    assert_int_equal(name[0], 'I');
    assert_int_equal(meta->vtbl->GetNestedClassProps(meta, owner, &outer), S_OK);
    assert_int_equal(meta->vtbl->GetTypeDefProps(meta, outer, name, 64, &len, NULL, NULL), S_OK);
    assert_int_equal(len, sizeof("Demo.Outer"));
    assert_int_equal(meta->vtbl->GetNestedClassProps(meta, outer, &outer), CLDB_E_RECORD_NOTFOUND);
    assert_int_equal(meta->vtbl->GetUserString(meta, 0, NULL, 0, NULL), E_NOTIMPL);
    meta->vtbl->Release(meta);
    return NULL;
}

static void a_nested_generic_method_can_be_named_by_a_foreign_thread(void **state)
{
    static const uint8_t sig[] = {0x00, 0x01, ELEMENT_TYPE_VOID, ELEMENT_TYPE_I4};
    (void)state;
    struct runtime rt = start("8.0");
    ModuleID module = rt.c->module_load("/fake/Demo.dll");
    ClassID outer = rt.c->class_new(module, "Demo.Outer", 0, 0, NULL);
    ClassID inner = rt.c->class_new(module, "Inner", outer, 0, NULL);
    FunctionID fn = rt.c->method_new(inner, "Run", sig, sizeof(sig), 1, &outer);
    assert_int_equal(rt.c->jit(fn), S_OK);
    assert_int_equal(rt.p->last_jitted, fn);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, name_it, &rt), 0);
    pthread_join(thread, NULL);
    IUnknown *meta = NULL; /* this thread is the runtime's own, and in no callback */
    assert_int_equal(rt.p->info->vtbl->GetModuleMetaData(rt.p->info, module, 0,
                                                         &IID_IMetaDataImport2, &meta),
                     CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
    end(&rt);
}

static void enumerators_hand_out_what_is_alive(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    ICorProfilerModuleEnum *modules;
    ModuleID ids[8], mine = rt.c->module_load("/fake/Demo.dll");
    ULONG n;
    assert_int_equal(info->vtbl->EnumModules(info, &modules), S_OK);
    assert_int_equal(modules->vtbl->Next(modules, 8, ids, &n), S_FALSE);
    assert_int_equal(n, 2);
    assert_int_equal(ids[1], mine);
    modules->vtbl->Release(modules);
    end(&rt);
}

static void a_rejit_asks_for_its_parameters(void **state)
{
    (void)state;
    setup.low = (uint32_t)(COR_PRF_ENABLE_REJIT | COR_PRF_MONITOR_JIT_COMPILATION);
    struct runtime rt = start("8.0");
    ModuleID module = rt.c->module_load("/fake/Demo.dll");
    FunctionID fn = rt.c->method_new(rt.c->class_new(module, "A", 0, 0, NULL), "M", NULL, 0, 0,
                                     NULL);
    mdMethodDef token = 0;
    ICorProfilerInfo15 *info = rt.p->info;
    rt.c->jit(fn);
    info->vtbl->GetFunctionInfo(info, fn, NULL, NULL, &token);
    assert_int_equal(info->vtbl->RequestReJIT(info, 1, &module, &token), S_OK);
    assert_int_equal(rt.p->rejit_parameters, 1);
    assert_int_equal(rt.c->raised("ReJITCompilationFinished"), 1);
    token = 0x06FFFFFF;
    assert_int_equal(info->vtbl->RequestReJIT(info, 1, &module, &token), S_OK);
    assert_int_equal(rt.c->raised("ReJITError"), 1);
    end(&rt);
}

static unsigned entered, left;

static void on_enter(FunctionIDOrClientID id, COR_PRF_ELT_INFO info)
{
    (void)info;
    entered += id.clientID == 0x1234;
}

static void on_leave(FunctionIDOrClientID id, COR_PRF_ELT_INFO info)
{
    (void)info;
    left += id.clientID == 0x1234;
}

static UINT_PTR map_it(FunctionID fn, void *data, BOOL *hook)
{
    (void)fn;
    *hook = 1;
    return (UINT_PTR)(uintptr_t)data;
}

static HRESULT initialize_with_hooks(ICorProfilerCallback11 *self, IUnknown *unknown)
{
    ICorProfilerInfo15 *info = (ICorProfilerInfo15 *)unknown;
    ((struct profiler *)self)->info = info;
    assert_int_equal(
        info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(info, on_enter, on_leave, NULL),
        CORPROF_E_INCONSISTENT_WITH_FLAGS);
    info->vtbl->SetEventMask(info, (uint32_t)(COR_PRF_MONITOR_ENTERLEAVE |
                                              COR_PRF_ENABLE_FRAME_INFO));
    info->vtbl->SetFunctionIDMapper2(info, map_it, (void *)0x1234);
    return info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(info, on_enter, on_leave, NULL);
}

static void hooks_are_called_with_the_mapped_id(void **state)
{
    (void)state;
    table.vtbl.Initialize = initialize_with_hooks;
    struct runtime rt = start("8.0");
    ModuleID module = rt.c->module_load("/fake/Demo.dll");
    FunctionID fn = rt.c->method_new(rt.c->class_new(module, "A", 0, 0, NULL), "M", NULL, 0, 0,
                                     NULL);
    assert_int_equal(rt.c->elt(fn, 0), 2);
    assert_int_equal(entered, 1);
    assert_int_equal(left, 1);
    assert_int_equal(rt.p->info->vtbl->RequestProfilerDetach(rt.p->info, 0),
                     CORPROF_E_IMMUTABLE_FLAGS_SET);
    end(&rt);
}

/* -- Stacks -- */

struct seen {
    FunctionID ids[64];
    uint64_t sps[64];
    ULONG32 size;
    unsigned n;
};

static HRESULT see(FunctionID id, UINT_PTR ip, COR_PRF_FRAME_INFO info, ULONG32 size, BYTE *context,
                   void *data)
{
    struct seen *seen = data;
    CONTEXT registers;
    (void)info;
    memcpy(&registers, context, sizeof(registers));
    assert_int_equal(registers.Rip, ip);
    seen->size = size;
    seen->sps[seen->n] = registers.Rsp;
    seen->ids[seen->n++] = id;
    return S_OK;
}

struct hop {
    struct runtime *rt[2];
    FunctionID fn[2];
    unsigned left;
    struct seen seen[2];
};

static uint64_t hop(void *arg)
{
    struct hop *h = arg;
    if (h->left == 0) {
        for (int i = 0; i < 2; i++) {
            ICorProfilerInfo15 *info = h->rt[i]->p->info;
            assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &h->seen[i], NULL, 0),
                             S_OK);
        }
        return 0;
    }
    unsigned at = --h->left % 2;
    return h->rt[at]->c->call(h->fn[at], hop, h) + 1;
}

static void frames_of_two_runtimes_interleave_on_one_real_stack(void **state)
{
    (void)state;
    struct runtime eight = start("8.0"), ten = start("10.0");
    struct hop h = {.rt = {&eight, &ten}, .left = 6};
    for (int i = 0; i < 2; i++) {
        ModuleID module = h.rt[i]->c->module_load("/fake/Demo.dll");
        h.fn[i] = h.rt[i]->c->method_new(h.rt[i]->c->class_new(module, "A", 0, 0, NULL), "M", NULL,
                                         0, 0, NULL);
        h.rt[i]->c->jit(h.fn[i]);
    }
    assert_int_equal(hop(&h), 6);
    assert_int_equal(h.seen[0].size, 3104);
    assert_int_equal(h.seen[1].size, 3232);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(h.seen[i].n, 5); /* three of its own, two runs of others between them */
        for (unsigned k = 0; k < 5; k++)
            assert_int_equal(h.seen[i].ids[k], k % 2 ? 0 : h.fn[i]);
        for (unsigned k = 1; k < 5; k++)
            assert_true(h.seen[i].sps[k] > h.seen[i].sps[k - 1]);
    }
    assert_true(h.seen[0].sps[0] < h.seen[1].sps[0]); /* the last hop was to the first runtime */
    end(&eight);
    end(&ten);
}

static void a_seed_counts_in_cooperative_mode_only(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    ModuleID module = rt.c->module_load("/fake/Demo.dll");
    FunctionID fn = rt.c->method_new(rt.c->class_new(module, "A", 0, 0, NULL), "M", NULL, 0, 0,
                                     NULL);
    rt.c->jit(fn);
    for (unsigned i = 0; i < 4; i++)
        rt.c->push_frame(fn, 0, 0x4000 - i * 0x100, 0);
    union {
        CONTEXT c;
        BYTE bytes[sizeof(CONTEXT)];
    } seed = {.c = {.ContextFlags = 0}};
    seed.c.Rsp = 0x3F00;
    struct seen seen = {.n = 0};
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX);
    seed.c.Rip = rt.c->code(fn) + 4;
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     S_OK);
    assert_int_equal(seen.n, 4);
    seen.n = 0;
    rt.c->set_cooperative(1);
    assert_int_equal(info->vtbl->DoStackSnapshot(info, 0, see, 1, &seen, seed.bytes, sizeof(seed)),
                     S_OK);
    assert_int_equal(seen.n, 2);
    end(&rt);
}

static void another_threads_stack_needs_a_suspended_runtime(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    ICorProfilerInfo15 *info = rt.p->info;
    ThreadID thread = rt.c->thread_start(NULL, NULL);
    struct seen seen = {.n = 0};
    assert_int_equal(info->vtbl->DoStackSnapshot(info, thread, see, 1, &seen, NULL, 0), E_NOTIMPL);
    assert_int_equal(info->vtbl->SuspendRuntime(info), S_OK);
    assert_int_equal(info->vtbl->DoStackSnapshot(info, thread, see, 1, &seen, NULL, 0), S_OK);
    assert_int_equal(info->vtbl->ResumeRuntime(info), S_OK);
    rt.c->thread_stop(thread);
    end(&rt);
}

/* -- Hosting and signals -- */

static void a_scenario_runs_and_returns_its_exit_code(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    unsigned code = 0;
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL,
                                "!modules 3; jit 100; throw 5\nframes 10; exit 7; gc 1", &code),
                     S_OK);
    assert_int_equal(code, 7);
    assert_int_equal(rt.p->jitted, 100);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL, "/no/such/file", &code),
                     (HRESULT)0x80070002);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL, "!dance", &code), E_INVALIDARG);
    end(&rt);
}

static uint64_t forty_two(void *arg)
{
    (void)arg;
    return 42;
}

static void a_delegate_is_compiled_code(void **state)
{
    (void)state;
    struct runtime rt = start("8.0");
    uint64_t (*call)(uint64_t (*)(void *), void *);
    void *delegate = NULL;
    assert_int_equal(rt.delegate(rt.host, rt.domain, "App", "Demo.Bridge", "Hop", &delegate), S_OK);
    memcpy(&call, &delegate, sizeof(call));
    assert_int_equal(call(forty_two, NULL), 42);
    FunctionID fn = 0;
    assert_int_equal(rt.p->info->vtbl->GetFunctionFromIP(rt.p->info, delegate, &fn), S_OK);
    assert_int_equal(fn, rt.p->last_jitted);
    end(&rt);
}

static void faults_in_its_code_are_handled_and_every_second_handler_never_returns(void **state)
{
    (void)state;
    setenv("FAKECLR_SIGNALS", "on", 1);
    struct runtime rt = start("8.0");
    struct fakeclr_counts n;
    unsigned code;
    rt.c->faults(8);
    rt.c->counts(&n);
    assert_int_equal(n.faults, 8);
    assert_int_equal(n.faults_left, 4);
    assert_int_equal(rt.execute(rt.host, rt.domain, 0, NULL,
                                "!threads 3; gc 5; thread-faults 20 2; join", &code), S_OK);
    rt.c->counts(&n);
    assert_int_equal(n.faults, 48);
    assert_int_equal(n.gc_hangs, 0);
    assert_int_equal(n.activations, 15);
    end(&rt);
}

static void an_earlier_runtimes_fault_passes_through_the_later_one(void **state)
{
    (void)state;
    setenv("FAKECLR_SIGNALS", "on", 1);
    struct runtime earlier = start("8.0"), later = start("9.0");
    struct fakeclr_counts n;
    earlier.c->faults(4);
    later.c->counts(&n);
    assert_int_equal(n.faults_chained, 4);
    assert_int_equal(n.after_previous, 2); /* the other two never came back */
    end(&earlier);
    end(&later);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, before_each)
        T(a_profiler_named_in_the_environment_is_created_and_initialized),
        T(nothing_is_loaded_when_profiling_is_not_enabled),
        T(the_path_with_the_bitness_wins),
        T(a_profiler_that_cancels_is_released_and_the_runtime_goes_on),
        T(a_failed_initialize_is_logged_and_everything_released),
        T(every_row_of_the_compatibility_table_comes_true),
        T(attaching_hands_over_the_client_data),
        T(an_instance_may_be_asked_for_with_aggregation),
        T(a_detached_profiler_is_released_and_hears_no_more),
        T(each_version_answers_only_the_infos_it_has),
        T(only_the_mask_in_force_lets_events_through),
        T(an_immutable_flag_comes_too_late_after_initialize),
        T(an_id_of_another_runtime_is_noticed),
        T(a_slot_this_version_lacks_is_noticed),
        T(the_nth_call_of_a_method_fails_on_demand),
        T(a_nested_generic_method_can_be_named_by_a_foreign_thread),
        T(enumerators_hand_out_what_is_alive),
        T(a_rejit_asks_for_its_parameters),
        T(hooks_are_called_with_the_mapped_id),
        T(frames_of_two_runtimes_interleave_on_one_real_stack),
        T(a_seed_counts_in_cooperative_mode_only),
        T(another_threads_stack_needs_a_suspended_runtime),
        T(a_scenario_runs_and_returns_its_exit_code),
        T(a_delegate_is_compiled_code),
        T(faults_in_its_code_are_handled_and_every_second_handler_never_returns),
        T(an_earlier_runtimes_fault_passes_through_the_later_one),
    };
    return cmocka_run_group_tests_name("fakeclr", tests, NULL, NULL);
}
