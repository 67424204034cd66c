/* SPDX-License-Identifier: MIT */
/* test_early.c - tiers of code that was compiled before its runtime reports tiers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/compiled.h"
#include "symbols/early.h"
#include "symbols/early_il.h"

#define TIER_OF(...)                                \
    ({                                              \
        static const uint8_t il[] = {__VA_ARGS__};  \
        sxs_early_il_tier(il, sizeof(il));          \
    })

static void a_method_begins_at_tier_0(void **state)
{
    (void)state;
    assert_int_equal(TIER_OF(0x06, 0x2a), SXS_TIER_0);                                /* ret */
    assert_int_equal(TIER_OF(0x12, 0x00, 0x2b, 0xfd, 0x2a), SXS_TIER_0);              /* a loop */
    assert_int_equal(TIER_OF(0x1a, 0x17, 0xe0, 0xfe, 0x0f, 0x26, 0x2a), SXS_TIER_0); /* localloc */
}

static void a_method_that_cannot_be_replaced_while_it_runs_is_optimized(void **state)
{
    (void)state;
    /* localloc, and back to the beginning */
    assert_int_equal(TIER_OF(0x22, 0x17, 0xe0, 0xfe, 0x0f, 0x26, 0x2b, 0xf9, 0x2a), SXS_TIER_OPTIMIZED);
    /* leave.s; a finally block: br.s to itself, endfinally; ret */
    assert_int_equal(TIER_OF(0x0b, 0x30, 8, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0xde, 0x03, 0x2b, 0xfe, 0xdc, 0x2a,
                             0, 0, 0x01, 0x10, 0, 0, 2, 0, 0, 0, 2, 2, 0, 3, 0, 0, 0, 0),
                     SXS_TIER_OPTIMIZED);
}

static void what_cannot_be_determined_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(TIER_OF(0x22, 0xfe, 0x14, 0x28, 0x01, 0x00, 0x00, 0x0a, 0x2a), SXS_TIER_UNKNOWN);
    assert_int_equal(TIER_OF(0x0a, 0x2b, 0x77), SXS_TIER_UNKNOWN); /* a branch out of the method */
}

/* Whether a body with a fat header and @n nop instructions is large. */
static int is_large(uint32_t n)
{
    static uint8_t il[12 + 70000] = {0x03, 0x30, 8};
    memcpy(il + 4, &n, sizeof(n));
    return sxs_early_il_is_large(il, sizeof(il));
}

static void a_large_method_is_never_optimized(void **state)
{
    static const uint8_t tiny[] = {0x06, 0x2a}, cut[] = {0x03, 0x30, 8, 0, 0xff, 0xff};
    (void)state;
    assert_false(is_large(60000));
    assert_true(is_large(60001));
    assert_false(sxs_early_il_is_large(tiny, sizeof(tiny)));
    assert_false(sxs_early_il_is_large(cut, sizeof(cut)));
    assert_false(sxs_early_il_is_large(cut, 0));
}

/* ---- code found and reported ---- */

#define RT     ((struct sxs_runtime *)0x1000)
#define METHOD UINT64_C(0x2000)

enum { METHOD_LOAD_VERBOSE = 143, JITTED_AT_TIER_1 = 8 | 4 << 7 };

static void is_found(uintptr_t lo)
{
    struct sxs_compiled piece = {.lo = lo, .hi = lo + 16, .rt = RT, .function = METHOD,
                                 .time_ns = UINT64_MAX / 2, .early = SXS_EARLY_INITIAL};
    sxs_compiled_add(&piece);
}

static void is_reported(uint64_t lo)
{
    unsigned char event[36] = {0};
    uint64_t      method = METHOD;
    uint32_t      size = 16, flags = JITTED_AT_TIER_1;
    memcpy(event, &method, sizeof(method));
    memcpy(event + 16, &lo, sizeof(lo));
    memcpy(event + 24, &size, sizeof(size));
    memcpy(event + 32, &flags, sizeof(flags));
    sxs_compiled_event(RT, METHOD_LOAD_VERBOSE, event, sizeof(event));
}

static void ignore(const struct sxs_compiled *piece)
{
    (void)piece;
}

static void a_reported_tier_stays_whichever_came_first(void **state)
{
    const struct sxs_compiled *piece;
    (void)state;
    sxs_compiled_expect(RT, 1);
    is_found(0x4000);
    is_reported(0x4000);
    is_reported(0x5000);
    is_found(0x5000);
    is_found(0x6000);
    sxs_compiled_update(ignore);
    for (uintptr_t at = 0x4000; at <= 0x5000; at += 0x1000) {
        piece = sxs_compiled_find(RT, at + 8);
        assert_non_null(piece);
        assert_int_equal(piece->early, SXS_EARLY_NOT);
        assert_int_equal(piece->tier, SXS_TIER_1);
    }
    assert_int_equal(sxs_compiled_find(RT, 0x6008)->early, SXS_EARLY_INITIAL);
    assert_true(sxs_compiled_all(RT));
    sxs_compiled_incomplete(RT);
    assert_false(sxs_compiled_all(RT));
    sxs_compiled_stop(RT);
    assert_null(sxs_compiled_find(RT, 0x6008));
}

/* Pages of private memory that the process has. */
static long data_pages(void)
{
    long  size, resident, shared, text, lib, data = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(
        fscanf(f, "%ld %ld %ld %ld %ld %ld", &size, &resident, &shared, &text, &lib, &data), 6);
    fclose(f);
    return data;
}

/* Pieces of a runtime that ends before they were looked at, while another goes on: its pieces are
 * dropped, and their memory is freed. 8,192 pieces have 96 pages or more. */
static void pieces_that_nobody_looked_at_leave_no_memory(void **state)
{
    enum { ROUNDS = 50, PIECES = 8192, MOST_PAGES = 1000 };
    long before = 0;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        sxs_compiled_expect(RT, 1);
        for (uintptr_t n = 0; n < PIECES; n++)
            is_found(0x10000 + n * 16);
        sxs_compiled_stop(RT);
        sxs_compiled_update(ignore);
        sxs_compiled_end();
        if (i == 0)
            before = data_pages();
    }
    assert_true(data_pages() - before < MOST_PAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_begins_at_tier_0),
        cmocka_unit_test(a_method_that_cannot_be_replaced_while_it_runs_is_optimized),
        cmocka_unit_test(what_cannot_be_determined_is_unknown),
        cmocka_unit_test(a_large_method_is_never_optimized),
        cmocka_unit_test(a_reported_tier_stays_whichever_came_first),
        cmocka_unit_test(pieces_that_nobody_looked_at_leave_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
