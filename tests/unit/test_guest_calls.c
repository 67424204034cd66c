/* SPDX-License-Identifier: MIT */
/* test_guest_calls.c - calls of guests: which ones are timed, and what they count for. */
#include "guests/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N 2000000u

static struct sxs_guest_row  row;
static struct guest_instance guest = {.row = &row, .number = 3, .state = SXS_GUEST_ACTIVE};

/* Calls the guest once. Returns what the call counts for in the estimate; 0: it was not timed. */
static uint64_t call_once(void)
{
    struct guest_call    call;
    struct guest_thread *t = guest_idle_thread();
    uint64_t             weight = 0;
    if (t && guest_enter(t, &guest)) {
        guest_leave(t);
        return 0;
    }
    assert_true(guest_call_begin(&guest, &call));
    assert_ptr_equal(guest_current(), &guest);
    if (call.since_ns)
        weight = call.weight;
    guest_call_end(&call, S_OK);
    assert_null(guest_current());
    return weight;
}

/* Callbacks come in patterns: each position of a pattern must be timed as often as the others. The
 * limits are more than five standard deviations. */
static void a_pattern_of_calls_is_timed_without_a_bias(void **state)
{
    static const unsigned lengths[] = {2, 3, 64};
    (void)state;
    for (unsigned l = 0; l < ARRAY_LEN(lengths); l++) {
        double sums[64] = {0}, all = 0, each = (double)N / lengths[l];
        for (unsigned i = 0; i < N; i++) {
            double weight = (double)call_once();
            sums[i % lengths[l]] += weight;
            all += weight;
        }
        if (all < N * 0.93 || all > N * 1.07)
            fail_msg("%u calls count for %.0f", N, all);
        for (unsigned i = 0; i < lengths[l]; i++)
            if ((sums[i] - each) * (sums[i] - each) > 10000 * each)
                fail_msg("of %u calls, number %u counts for %.0f, not for %.0f", lengths[l], i,
                         sums[i], each);
    }
    guest_threads_sum(&guest);
    assert_int_equal(row.callbacks, N * ARRAY_LEN(lengths));
}

static void the_first_call_of_a_thread_counts_for_itself(void **state)
{
    static struct guest_instance another = {.row = &row, .number = 4, .state = SXS_GUEST_ACTIVE};
    struct guest_call            call;
    (void)state;
    assert_true(guest_call_begin(&another, &call));
    assert_true(call.since_ns);
    assert_int_equal(call.weight, 1);
    guest_call_end(&call, S_OK);
}

static void a_call_within_another_guest_restores_it(void **state)
{
    static struct guest_instance outer = {.row = &row, .number = 5, .state = SXS_GUEST_ACTIVE};
    struct guest_call            first, second;
    (void)state;
    assert_true(guest_call_begin(&outer, &first));
    assert_null(guest_idle_thread());
    assert_true(guest_call_begin(&guest, &second));
    assert_ptr_equal(guest_current(), &guest);
    assert_int_equal(guest_threads_inside(&outer, 1),
                     2); /* as its own call, and as the outer one */
    guest_call_end(&second, S_OK);
    assert_ptr_equal(guest_current(), &outer);
    guest_call_end(&first, S_OK);
    assert_null(guest_current());
    assert_int_equal(guest_threads_inside(&outer, 1) + guest_threads_inside(&guest, 1), 0);
}

static void an_ended_guest_is_not_called(void **state)
{
    static struct guest_instance ended = {.row = &row, .number = 6, .state = SXS_GUEST_ENDED};
    struct guest_call            call;
    struct guest_thread         *t = guest_idle_thread();
    (void)state;
    assert_non_null(t);
    t->of[ended.number].timed_at = 1; /* so that not the clock makes guest_enter() refuse */
    assert_false(guest_enter(t, &ended));
    assert_null(guest_current());
    assert_false(guest_call_begin(&ended, &call));
    assert_int_equal(guest_threads_inside(&ended, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_of_calls_is_timed_without_a_bias),
        cmocka_unit_test(the_first_call_of_a_thread_counts_for_itself),
        cmocka_unit_test(a_call_within_another_guest_restores_it),
        cmocka_unit_test(an_ended_guest_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
