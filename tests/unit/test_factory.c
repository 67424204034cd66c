/* SPDX-License-Identifier: MIT */
/* test_factory.c - the library's door, as a CLR knocks on it: libsxsprof.so, loaded by its path. */
#include "manager/guid.h"
#include "tests/unit/fake_host.h"

typedef HRESULT get_class_object(const GUID *clsid, const GUID *iid, void **out);

static get_class_object *get;
static GUID              ours;
static const GUID        nobody = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static int open_library(void **state)
{
    void *library = dlopen(built("libsxsprof.so"), RTLD_NOW | RTLD_LOCAL);
    (void)state;
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    assert_non_null(library);
    *(void **)&get = dlsym(library, "DllGetClassObject");
    assert_non_null(get);
    assert_true(sxs_guid_parse(SXSPROF_CLSID, &ours));
    return 0;
}

static IClassFactory *factory(void)
{
    IClassFactory *f = NULL;
    assert_int_equal(get(&ours, &IID_IClassFactory, (void **)&f), S_OK);
    assert_non_null(f);
    return f;
}

static ICorProfilerCallback11 *instance(const GUID *iid)
{
    ICorProfilerCallback11 *cb = NULL;
    IClassFactory          *f = factory();
    assert_int_equal(f->vtbl->CreateInstance(f, NULL, iid, (void **)&cb), S_OK);
    assert_non_null(cb);
    return cb;
}

static void a_guid_is_read_in_its_one_form_alone(void **state)
{
    static const char *const wrong[] = {"",
                                        "{",
                                        "{01234567-89ab-cdef-0123-456789abcdef",
                                        "{01234567-89ab-cdef-0123-456789abcdef)",
                                        "{01234567-89ab-cdef-0123-456789abcdef}x",
                                        "01234567-89ab-cdef-0123-456789abcdef",
                                        "{ 1234567-89ab-cdef-0123-456789abcdef}",
                                        "{01234567--9ab-cdef-0123-456789abcdef}",
                                        "{01234567-89ab-cdef-0123-456789abcde}"};
    GUID                     guid = {0};
    (void)state;
    assert_true(sxs_guid_parse("{01234567-89ab-CDEF-0123-456789abcdef}", &guid));
    assert_int_equal(guid.Data3, 0xcdef);
    assert_int_equal(guid.Data4[7], 0xef);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (sxs_guid_parse(wrong[i], &guid))
            fail_msg("\"%s\" was taken", wrong[i]);
}

static void the_class_of_another_profiler_is_not_available(void **state)
{
    void *out = (void *)1;
    (void)state;
    assert_int_equal(get(&nobody, &IID_IClassFactory, &out), CLASS_E_CLASSNOTAVAILABLE);
    assert_null(out);
    out = (void *)1;
    assert_int_equal(get(NULL, &IID_IClassFactory, &out), CLASS_E_CLASSNOTAVAILABLE);
    assert_null(out);
}

static void a_class_object_is_a_factory_and_nothing_else(void **state)
{
    void *out = (void *)1;
    (void)state;
    assert_int_equal(get(&ours, &nobody, &out), E_NOINTERFACE);
    assert_null(out);
    assert_int_equal(get(&ours, &IID_ICorProfilerCallback2, &out), E_NOINTERFACE);
    assert_int_equal(get(&ours, NULL, &out), E_NOINTERFACE);
    assert_int_equal(get(&ours, &IID_IClassFactory, NULL), E_POINTER);
    assert_int_equal(get(&ours, &IID_IUnknown, &out), S_OK);
    assert_ptr_equal(out, factory());
}

static void the_factory_keeps_the_rules_of_identity(void **state)
{
    IClassFactory *f = factory();
    void          *same = NULL;
    (void)state;
    assert_int_equal(f->vtbl->QueryInterface(f, &IID_IUnknown, &same), S_OK);
    assert_ptr_equal(same, f);
    assert_int_equal(f->vtbl->QueryInterface(f, &IID_ICorProfilerCallback, &same), E_NOINTERFACE);
    assert_null(same);
    assert_int_equal(f->vtbl->QueryInterface(f, NULL, &same), E_NOINTERFACE);
    assert_int_equal(f->vtbl->QueryInterface(f, &IID_IUnknown, NULL), E_POINTER);
    for (int i = 0; i < 10; i++) /* static: more releases than references do no harm */
        assert_true(f->vtbl->Release(f) > 0);
    assert_true(f->vtbl->AddRef(f) > 0);
    assert_int_equal(f->vtbl->LockServer(f, 1), S_OK);
    assert_int_equal(f->vtbl->LockServer(f, 0), S_OK);
}

static void aggregation_is_refused(void **state)
{
    IClassFactory *f = factory();
    void          *out = (void *)1;
    (void)state;
    assert_int_equal(f->vtbl->CreateInstance(f, (IUnknown *)(void *)f, &IID_IUnknown, &out),
                     CLASS_E_NOAGGREGATION);
    assert_null(out);
}

static void an_instance_of_something_else_is_refused(void **state)
{
    IClassFactory *f = factory();
    void          *out = (void *)1;
    (void)state;
    assert_int_equal(f->vtbl->CreateInstance(f, NULL, &nobody, &out), E_NOINTERFACE);
    assert_null(out);
    assert_int_equal(f->vtbl->CreateInstance(f, NULL, &IID_IClassFactory, &out), E_NOINTERFACE);
    assert_int_equal(f->vtbl->CreateInstance(f, NULL, NULL, &out), E_NOINTERFACE);
    assert_int_equal(f->vtbl->CreateInstance(f, NULL, &IID_IUnknown, NULL), E_POINTER);
}

static void every_version_of_the_callback_is_the_same_object(void **state)
{
    ICorProfilerCallback11 *cb = instance(&IID_ICorProfilerCallback2);
    const GUID *const       all[] = {&IID_IUnknown,
                                     &IID_ICorProfilerCallback,
                                     &IID_ICorProfilerCallback2,
                                     &IID_ICorProfilerCallback3,
                                     &IID_ICorProfilerCallback4,
                                     &IID_ICorProfilerCallback5,
                                     &IID_ICorProfilerCallback6,
                                     &IID_ICorProfilerCallback7,
                                     &IID_ICorProfilerCallback8,
                                     &IID_ICorProfilerCallback9,
                                     &IID_ICorProfilerCallback10,
                                     &IID_ICorProfilerCallback11};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
        ICorProfilerCallback11 *again = NULL;
        assert_int_equal(cb->vtbl->QueryInterface(cb, all[i], (void **)&again), S_OK);
        assert_ptr_equal(again, cb);
        assert_int_equal(cb->vtbl->AddRef(cb), 3); /* one of ours, one of QueryInterface, this */
        assert_int_equal(cb->vtbl->Release(cb), 2);
        assert_int_equal(again->vtbl->Release(again), 1);
    }
    void *none = (void *)1;
    assert_int_equal(cb->vtbl->QueryInterface(cb, &nobody, &none), E_NOINTERFACE);
    assert_null(none);
    assert_int_equal(cb->vtbl->QueryInterface(cb, &IID_IClassFactory, &none), E_NOINTERFACE);
    assert_int_equal(cb->vtbl->QueryInterface(cb, NULL, &none), E_NOINTERFACE);
    assert_int_equal(cb->vtbl->QueryInterface(cb, &IID_IUnknown, NULL), E_POINTER);
    assert_int_equal(cb->vtbl->Release(cb), 0); /* refusals took no reference */
}

static void an_instance_may_be_asked_for_by_any_version(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(sxs_callback_iids); i++) {
        ICorProfilerCallback11 *cb = instance(sxs_callback_iids[i]);
        assert_int_equal(cb->vtbl->Release(cb), 0);
    }
}

static void two_instances_are_two_objects(void **state)
{
    ICorProfilerCallback11 *a = instance(&IID_IUnknown), *b = instance(&IID_IUnknown);
    (void)state;
    assert_ptr_not_equal(a, b);
    assert_int_equal(a->vtbl->Release(a), 0);
    assert_int_equal(b->vtbl->AddRef(b), 2);
    assert_int_equal(b->vtbl->Release(b), 1);
    assert_int_equal(b->vtbl->Release(b), 0);
}

static void it_loads_as_the_main_profiler(void **state)
{
    ICorProfilerCallback11 *cb = instance(&IID_ICorProfilerCallback11);
    BOOL                    only = 7;
    (void)state;
    assert_int_equal(cb->vtbl->LoadAsNotificationOnly(cb, &only), S_OK);
    assert_int_equal(only, 0);
    assert_int_equal(cb->vtbl->LoadAsNotificationOnly(cb, NULL), E_POINTER);
    cb->vtbl->Release(cb);
}

static void an_instance_that_was_never_initialized_answers_every_event(void **state)
{
    ICorProfilerCallback11 *cb = instance(&IID_ICorProfilerCallback11);
    (void)state;
    assert_int_equal(cb->vtbl->JITCompilationStarted(cb, 1, 1), S_OK);
    assert_int_equal(cb->vtbl->ThreadCreated(cb, 1), S_OK);
    assert_int_equal(cb->vtbl->ProfilerDetachSucceeded(cb), S_OK);
    assert_int_equal(cb->vtbl->Shutdown(cb), S_OK);
    assert_int_equal(cb->vtbl->Shutdown(cb), S_OK);
    assert_int_equal(cb->vtbl->Release(cb), 0);
}

static void initialize_without_an_info_fails(void **state)
{
    ICorProfilerCallback11 *cb = instance(&IID_ICorProfilerCallback3);
    const char             *said;
    (void)state;
    capture();
    assert_int_equal(cb->vtbl->Initialize(cb, NULL), E_INVALIDARG);
    assert_int_equal(cb->vtbl->InitializeForAttach(cb, NULL, NULL, 0), E_INVALIDARG);
    said = captured();
    assert_int_equal(lines_of(said), 2);
    assert_non_null(strstr(said, "runs unprofiled"));
    assert_int_equal(cb->vtbl->Release(cb), 0);
}

static void the_library_stays_when_the_last_user_closes_it(void **state)
{
    (void)state;
    factory();
    for (int i = 0; i < 5; i++) { /* as many closes as it takes */
        void *again = dlopen(built("libsxsprof.so"), RTLD_NOW | RTLD_NOLOAD);
        assert_non_null(again);
        dlclose(again);
        dlclose(again);
    }
    assert_int_equal(get(&nobody, &IID_IClassFactory, (void *[]){NULL}), CLASS_E_CLASSNOTAVAILABLE);
}

static void only_the_door_is_exported(void **state)
{
    static const char *const hidden[] = {"sxs_manager_init", "sxs_class_factory", "sxs_log_write",
                                         "sxs_callback_new", "router_entry"};
    void                    *library = dlopen(built("libsxsprof.so"), RTLD_NOW | RTLD_NOLOAD);
    (void)state;
    assert_non_null(dlsym(library, "DllCanUnloadNow"));
    assert_non_null(dlsym(library, "sxsprof_print_stack"));
    for (unsigned i = 0; i < ARRAY_LEN(hidden); i++) {
        Dl_info where;
        void   *at = dlsym(library, hidden[i]);
        if (at)
            assert_true(dladdr(at, &where) && !strstr(where.dli_fname, "libsxsprof"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guid_is_read_in_its_one_form_alone),
        cmocka_unit_test(the_class_of_another_profiler_is_not_available),
        cmocka_unit_test(a_class_object_is_a_factory_and_nothing_else),
        cmocka_unit_test(the_factory_keeps_the_rules_of_identity),
        cmocka_unit_test(aggregation_is_refused),
        cmocka_unit_test(an_instance_of_something_else_is_refused),
        cmocka_unit_test(every_version_of_the_callback_is_the_same_object),
        cmocka_unit_test(an_instance_may_be_asked_for_by_any_version),
        cmocka_unit_test(two_instances_are_two_objects),
        cmocka_unit_test(it_loads_as_the_main_profiler),
        cmocka_unit_test(an_instance_that_was_never_initialized_answers_every_event),
        cmocka_unit_test(initialize_without_an_info_fails),
        cmocka_unit_test(only_the_door_is_exported),
        cmocka_unit_test(the_library_stays_when_the_last_user_closes_it),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, open_library, NULL);
}
