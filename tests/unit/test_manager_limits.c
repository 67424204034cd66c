/* SPDX-License-Identifier: MIT */
/* test_manager_limits.c - more runtimes than rows, no memory, and what the census counts then. */
#include "tests/unit/manager_fixture.h"

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
    profile_without_signals(real_tools, ARRAY_LEN(real_tools));
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
        cmocka_unit_test(more_runtimes_than_rows_are_admitted_all_the_same),
        cmocka_unit_test(without_memory_an_instance_is_refused_and_nothing_else_happens),
        cmocka_unit_test(the_census_counts_each_runtimes_own),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
