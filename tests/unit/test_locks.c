/* SPDX-License-Identifier: MIT */
/* test_locks.c - the events that the tool "locks" decodes, and its limit of records a second. */
#include <math.h>
#include <string.h>

#include "tools/locks/decode.h"
#include "tools/locks/pace.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* Events as runtime 9.0.18 raises them. */
static const unsigned char of_monitor[27] = {0, 0,    0,    0xb0, 0xb0, 0x11, 0x90, 0xaa, 0x7f,
                                             0, 0,    0xb8, 0x90, 0x8a, 0xfa, 0x69, 0x7f, 0,
                                             0, 0xb6, 0x2a, 0,    0,    0,    0,    0,    0};
static const unsigned char of_lock[27] = {0, 0,    0,    0xfc, 0x01, 0,    0,    0,    0,
                                          0, 0,    0xf8, 0xc9, 0x8a, 0xfa, 0x69, 0x7f, 0,
                                          0, 0xc6, 0x2a, 0,    0,    0,    0,    0,    0};
static const unsigned char stop[11] = {0, 0, 0, 0, 0, 0, 0x80, 0x19, 0x03, 0x4f, 0x41};
static const unsigned char adjusted[18] = {0x07, 0xc0, 0x94, 0xf2, 0x33, 0xb9, 0x6f, 0x3f, 4,
                                           0,    0,    0,    6,    0,    0,    0,    0,    0};
static const unsigned char started[10] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};

static void the_start_of_a_wait_has_lock_object_and_owner(void **state)
{
    struct sxs_contention c;
    (void)state;
    assert_int_equal(sxs_contention_start(81, 2, of_monitor, sizeof(of_monitor), &c), 1);
    assert_true(c.lock == 0x7faa9011b0b0 && c.object == 0x7f69fa8a90b8);
    assert_int_equal(c.owner, 10934);
    assert_int_equal(c.is_monitor, 1);
}

static void a_lock_of_the_class_lock_is_no_monitor(void **state)
{
    struct sxs_contention c;
    (void)state;
    assert_int_equal(sxs_contention_start(81, 2, of_lock, sizeof(of_lock), &c), 1);
    assert_int_equal(c.lock, 0x1fc);
    assert_int_equal(c.is_monitor, 0);
    assert_int_equal(c.owner, 10950);
}

static void the_end_of_a_wait_has_its_length(void **state)
{
    uint64_t      ns;
    double        wrong[] = {NAN, INFINITY, -1, 1e19};
    unsigned char bytes[sizeof(stop)];
    (void)state;
    assert_int_equal(sxs_contention_stop(91, 1, stop, sizeof(stop), &ns), 1);
    assert_int_equal(ns, 4064819);
    memcpy(bytes, stop, sizeof(stop));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        memcpy(bytes + 3, &wrong[i], sizeof(wrong[i]));
        assert_int_equal(sxs_contention_stop(91, 1, bytes, sizeof(bytes), &ns), 0);
    }
}

static void other_events_versions_and_sizes_are_refused(void **state)
{
    struct sxs_contention c;
    struct sxs_pool_event p;
    uint64_t              ns;
    unsigned char         native[sizeof(of_monitor)];
    (void)state;
    for (size_t size = 0; size < sizeof(of_monitor); size++)
        assert_int_equal(sxs_contention_start(81, 2, of_monitor, size, &c), 0);
    for (size_t size = 0; size < sizeof(stop); size++)
        assert_int_equal(sxs_contention_stop(91, 1, stop, size, &ns), 0);
    for (size_t size = 0; size < sizeof(adjusted); size++)
        assert_int_equal(sxs_pool_event_decode(55, 0, adjusted, size, &p), 0);
    for (size_t size = 0; size < sizeof(started); size++)
        assert_int_equal(sxs_pool_event_decode(50, 0, started, size, &p), 0);
    assert_int_equal(sxs_contention_start(81, 1, of_monitor, sizeof(of_monitor), &c), 0);
    assert_int_equal(sxs_contention_start(82, 2, of_monitor, sizeof(of_monitor), &c), 0);
    assert_int_equal(sxs_contention_stop(81, 2, of_monitor, sizeof(of_monitor), &ns), 0);
    assert_int_equal(sxs_pool_event_decode(81, 2, of_monitor, sizeof(of_monitor), &p), 0);
    memcpy(native, of_monitor, sizeof(native));
    native[0] = 1;
    assert_int_equal(sxs_contention_start(81, 2, native, sizeof(native), &c), 0);
}

static void changes_of_the_pool_are_decoded(void **state)
{
    struct sxs_pool_event p;
    (void)state;
    assert_int_equal(sxs_pool_event_decode(50, 0, started, sizeof(started), &p), 1);
    assert_true(p.change == SXS_POOL_STARTED && p.value == 3);
    assert_int_equal(sxs_pool_event_decode(51, 0, started, sizeof(started), &p), 1);
    assert_true(p.change == SXS_POOL_STOPPED && p.value == 3);
    assert_int_equal(sxs_pool_event_decode(55, 0, adjusted, sizeof(adjusted), &p), 1);
    assert_true(p.change == SXS_POOL_ADJUSTED && p.value == 4);
    assert_int_equal(p.reason, SXS_POOL_REASON_STARVATION);
}

static void the_queue_is_found_among_the_counters(void **state)
{
    static const uint16_t queue[] = u"threadpool-queue-length\0ThreadPool Queue Length";
    static const uint16_t other[] = u"threadpool-thread-count\0ThreadPool Thread Count";
    struct sxs_pool_event p;
    const double          values[] = {17, -1, NAN};
    unsigned char         bytes[sizeof(queue) + sizeof(double)];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        memcpy(bytes, queue, sizeof(queue));
        memcpy(bytes + sizeof(queue), &values[i], sizeof(double));
        assert_int_equal(sxs_pool_queue_decode(bytes, sizeof(bytes), &p), i == 0);
        assert_int_equal(sxs_pool_queue_decode(bytes, sizeof(bytes) - 1, &p), 0);
    }
    assert_true(p.change == SXS_POOL_QUEUED && p.value == 17);
    memcpy(bytes, other, sizeof(other));
    assert_int_equal(sxs_pool_queue_decode(bytes, sizeof(bytes), &p), 0);
}

/* Takes @n things in one second, evenly, and returns for how many the recorded ones stand. */
static double take_second(struct sxs_pace *pace, uint64_t second, unsigned n, unsigned *recorded)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        double took = sxs_pace_take_at(pace, second * SECOND + i * (SECOND / n));
        sum += took;
        *recorded += took > 0;
    }
    return sum;
}

static void few_are_all_recorded(void **state)
{
    struct sxs_pace pace = {0};
    unsigned        recorded = 0;
    (void)state;
    sxs_pace_init(&pace, 1000);
    for (uint64_t s = 1; s < 5; s++)
        assert_true(take_second(&pace, s, 1000, &recorded) == 1000);
    assert_int_equal(recorded, 4000);
}

static void many_are_thinned_without_a_bias(void **state)
{
    struct sxs_pace pace = {0};
    unsigned        recorded = 0;
    double          sum = 0;
    (void)state;
    sxs_pace_init(&pace, 1000);
    take_second(&pace, 1, 100000, &recorded);
    recorded = 0;
    for (uint64_t s = 2; s < 12; s++)
        sum += take_second(&pace, s, 100000, &recorded);
    /* 1 of 100 of 1,000,000: n = 10,000 +- 5 standard deviations of 100 */
    assert_in_range(recorded, 9500, 10500);
    assert_true(fabs(sum - 1e6) < 5 * 100 * 100);
}

static void after_a_burst_all_are_recorded_again(void **state)
{
    struct sxs_pace pace = {0};
    unsigned        recorded = 0;
    (void)state;
    sxs_pace_init(&pace, 1000);
    take_second(&pace, 1, 100000, &recorded);
    recorded = 0;
    assert_true(take_second(&pace, 10, 100, &recorded) == 100);
    assert_int_equal(recorded, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_of_a_wait_has_lock_object_and_owner),
        cmocka_unit_test(a_lock_of_the_class_lock_is_no_monitor),
        cmocka_unit_test(the_end_of_a_wait_has_its_length),
        cmocka_unit_test(other_events_versions_and_sizes_are_refused),
        cmocka_unit_test(changes_of_the_pool_are_decoded),
        cmocka_unit_test(the_queue_is_found_among_the_counters),
        cmocka_unit_test(few_are_all_recorded),
        cmocka_unit_test(many_are_thinned_without_a_bias),
        cmocka_unit_test(after_a_burst_all_are_recorded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
