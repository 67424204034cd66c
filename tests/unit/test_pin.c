/* SPDX-License-Identifier: MIT */
/* test_pin.c - which exceptions are pinned, and for how long. */
#include "tests/unit/manager_fixture.h"

enum { MOST = 8 }; /* a thread's */

static const struct sxs_tool *const tools[] = {&sxs_pin_tool};

static struct fake_host start_pinning(const char *version)
{
    profile_without_signals(tools, ARRAY_LEN(tools));
    return fake_start(version);
}

static uint64_t handles(const struct fake_host *h)
{
    return fake_counts(h).handles;
}

static ObjectID exception_of(const struct fake_host *h)
{
    ModuleID module = h->c->module_load("exceptions.dll");
    return h->c->object_new(h->c->class_new(module, "Failure", 0, 0, NULL));
}

static void raise_thrown(const struct fake_host *h, ObjectID exception)
{
    fake_raise0(h, "ExceptionThrown", exception, 0);
}

static void enter_catch(const struct fake_host *h, ObjectID exception)
{
    fake_raise0(h, "ExceptionCatcherEnter", 0x1234, exception);
}

static void leave_catch(const struct fake_host *h)
{
    fake_raise0(h, "ExceptionCatcherLeave", 0, 0);
}

static void catch_body(void)
{
    struct fake_host h = start_pinning("10.0");
    ObjectID         a = exception_of(&h), b = exception_of(&h), c = exception_of(&h);
    raise_thrown(&h, a);
    CHECK_EQ(handles(&h), 1);
    raise_thrown(&h, c); /* in a filter, and over with it */
    CHECK_EQ(handles(&h), 2);
    enter_catch(&h, a);
    CHECK_EQ(handles(&h), 1);
    raise_thrown(&h, b); /* in the catch block */
    enter_catch(&h, b);
    CHECK_EQ(handles(&h), 2);
    leave_catch(&h);
    CHECK_EQ(handles(&h), 1);
    raise_thrown(&h, a); /* once more */
    CHECK_EQ(handles(&h), 1);
    enter_catch(&h, a);
    leave_catch(&h);
    CHECK_EQ(handles(&h), 0);
    leave_catch(&h);
    CHECK_EQ(handles(&h), 0);
    fake_end(&h);
}

static void an_exception_is_pinned_until_its_catch_block_ends(void **state)
{
    (void)state;
    PASSES(catch_body);
}

static void lost_body(void)
{
    struct fake_host h = start_pinning("9.0");
    for (int i = 0; i < 3 * MOST; i++)
        raise_thrown(&h, exception_of(&h));
    CHECK_EQ(handles(&h), MOST);
    h.c->fail_call("CreateHandle", E_OUTOFMEMORY, 0);
    raise_thrown(&h, exception_of(&h));
    CHECK_EQ(handles(&h), MOST);
    fake_end(&h);
}

static void exceptions_that_nothing_catches_go_when_there_are_many(void **state)
{
    (void)state;
    PASSES(lost_body);
}

static void *throw_and_end(void *host)
{
    raise_thrown(host, exception_of(host));
    raise_thrown(host, exception_of(host));
    CHECK_EQ(handles(host), 2);
    return NULL;
}

static void thread_body(void)
{
    struct fake_host h = start_pinning("10.0");
    pthread_t        thread;
    CHECK_EQ(pthread_create(&thread, NULL, throw_and_end, &h), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(handles(&h), 0);
    fake_end(&h);
}

static void exceptions_of_a_thread_go_with_it(void **state)
{
    (void)state;
    PASSES(thread_body);
}

static void two_body(void)
{
    struct fake_host ten = start_pinning("10.0"), other = fake_start("9.0");
    ObjectID         a = exception_of(&ten), b = exception_of(&other);
    raise_thrown(&ten, a);
    enter_catch(&ten, a);
    raise_thrown(&other, b);
    leave_catch(&other); /* of an exception that was not seen */
    CHECK_EQ(handles(&ten), 1);
    CHECK_EQ(handles(&other), 1);
    fake_end(&other);
    leave_catch(&ten); /* what the other had is given up with it */
    CHECK_EQ(handles(&ten), 0);
    fake_end(&ten);
}

static void catch_blocks_of_one_runtime_release_nothing_of_another(void **state)
{
    (void)state;
    PASSES(two_body);
}

static void without_body(void)
{
    struct fake_host h = start_pinning("8.0");
    raise_thrown(&h, exception_of(&h));
    CHECK_EQ(handles(&h), 0);
    fake_end(&h);
}

static void runtimes_without_the_defect_keep_theirs_movable(void **state)
{
    (void)state;
    PASSES(without_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exception_is_pinned_until_its_catch_block_ends),
        cmocka_unit_test(exceptions_that_nothing_catches_go_when_there_are_many),
        cmocka_unit_test(exceptions_of_a_thread_go_with_it),
        cmocka_unit_test(catch_blocks_of_one_runtime_release_nothing_of_another),
        cmocka_unit_test(runtimes_without_the_defect_keep_theirs_movable),
    };
    return cmocka_run_group_tests(tests, plain_environment, NULL);
}
