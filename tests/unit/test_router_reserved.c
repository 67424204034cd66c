/* SPDX-License-Identifier: MIT */
/* test_router_reserved.c - address space that is reserved before its owner is known, through a preloaded router. */
#include "tests/unit/router_fixture.h"

#define MIB ((size_t)1 << 20)

static void *reserve_as(uintptr_t caller, size_t size)
{
    void *at = hook_mmap(caller, NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

/* As 9.0 would: it registers a handler of its own. */
static int register_as(const struct fake_host *h)
{
    struct sigaction act = {.sa_sigaction = (handler_fn)(uintptr_t)h->initialize,
                            .sa_flags = SA_SIGINFO | SA_RESTART};
    CHECK_EQ(hook_sigaction((uintptr_t)h->initialize, SIGFPE, &act, NULL), 0);
    return owner_of_module((uintptr_t)h->initialize);
}

static struct fake_host unknown_runtime(void)
{
    signalling("8.0");
    router.preloaded = 1;
    return fake_load("9.0");
}

static void before_body(void)
{
    struct fake_host h = unknown_runtime();
    uintptr_t        caller = (uintptr_t)h.initialize;
    uintptr_t        kept = (uintptr_t)reserve_as(caller, 64 * MIB);
    void            *dropped = reserve_as(caller, 32 * MIB);
    uintptr_t        others = (uintptr_t)reserve_as((uintptr_t)before_body, 32 * MIB);
    CHECK_EQ(owner_of_module(caller), -1); /* nothing was asked of anybody */
    CHECK_EQ(hook_munmap((uintptr_t)before_body, dropped, 32 * MIB), 0);
    int owner = register_as(&h);
    CHECK(owner >= 0);
    CHECK_EQ(owner_of_code(kept), owner);
    CHECK_EQ(owner_of_code(kept + 64 * MIB - 1), owner);
    CHECK_EQ(owner_of_code((uintptr_t)dropped), -1);
    CHECK_EQ(owner_of_code(others), -1);
    CHECK_EQ(owner_of_code((uintptr_t)reserve_as(caller, 32 * MIB)), owner);
}

static void what_a_runtime_reserved_before_it_registered_is_its_code(void **state)
{
    (void)state;
    PASSES(before_body);
}

static void many_body(void)
{
    struct fake_host h = unknown_runtime();
    uintptr_t        caller = (uintptr_t)h.initialize;
    for (int i = 0; i < 1000; i++) {
        void *at = reserve_as((uintptr_t)many_body, 32 * MIB);
        CHECK_EQ(hook_munmap((uintptr_t)many_body, at, 32 * MIB), 0);
    }
    CHECK_EQ(reserved_lost(), 0);
    uintptr_t kept = (uintptr_t)reserve_as(caller, 64 * MIB);
    int       owner = register_as(&h);
    CHECK_EQ(owner_of_code(kept), owner);
    for (int i = 0; i < 300; i++)
        reserve_as((uintptr_t)many_body, 32 * MIB);
    CHECK_EQ(reserved_lost(), 1);
    CHECK_EQ(owner_of_code(kept), owner);
}

static void an_allocator_that_reserves_a_thousand_times_takes_no_place_for_long(void **state)
{
    (void)state;
    PASSES(many_body);
}

/* ---- which module ---------------------------------------------------------------------------- */

static void modules_body(void)
{
    static const char *const versions[] = {"2.0", "8.0", "10.0"};
    struct loaded_module     m;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        struct fake_host h = fake_load(versions[i]);
        CHECK_EQ(module_find((uintptr_t)h.initialize, &m), 1);
        CHECK(strcmp(m.path, h.path) == 0);
        CHECK(m.lo <= (uintptr_t)h.initialize && (uintptr_t)h.initialize < m.hi);
        CHECK_EQ(module_is_runtime(&m), 1);
    }
    CHECK_EQ(module_find((uintptr_t)modules_body, &m), 1);
    CHECK_EQ(module_is_runtime(&m), 0);
    CHECK_EQ(module_find((uintptr_t)getpid, &m), 1);
    CHECK_EQ(module_is_runtime(&m), 0);
    CHECK_EQ(module_find((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"), &m), 1);
    CHECK_EQ(module_is_runtime(&m), 0);
    CHECK_EQ(module_find((uintptr_t)&m, &m), 0); /* on the stack */
    CHECK_EQ(module_find(0, &m), 0);
    CHECK_EQ(module_find(UINTPTR_MAX, &m), 0);
}

static void a_runtime_is_recognized_by_what_its_module_exports(void **state)
{
    (void)state;
    PASSES(modules_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_runtime_reserved_before_it_registered_is_its_code),
        cmocka_unit_test(an_allocator_that_reserves_a_thousand_times_takes_no_place_for_long),
        cmocka_unit_test(a_runtime_is_recognized_by_what_its_module_exports),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
