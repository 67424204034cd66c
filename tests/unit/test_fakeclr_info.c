/* SPDX-License-Identifier: MIT */
/* test_fakeclr_info.c - the simulated runtime's Info keeps a CLR's rules. */
#include "tests/unit/fakeclr_fixture.h"

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
    ModuleID                ids[8], demo = rt.c->module_load("/fake/Demo.dll");
    ULONG n;
    assert_int_equal(info->vtbl->EnumModules(info, &modules), S_OK);
    assert_int_equal(modules->vtbl->Next(modules, 8, ids, &n), S_FALSE);
    assert_int_equal(n, 2);
    assert_int_equal(ids[1], demo);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, before_each)
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
    };
    return cmocka_run_group_tests_name("fakeclr", tests, NULL, NULL);
}
