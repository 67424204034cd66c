/* SPDX-License-Identifier: MIT */
/* The format jitdump, with bytes that may be anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "sampling/jit_dump.h"

static void put(uint8_t *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

static struct sxs_jit_record load(uint32_t size, uint64_t code_size)
{
    uint8_t               bytes[SXS_JIT_DUMP_LOAD] = {0};
    struct sxs_jit_record record;
    put(bytes + 4, size, 4);
    put(bytes + 32, 0x1000, 8);
    put(bytes + 40, code_size, 8);
    assert_int_equal(sxs_jit_dump_record(bytes, sizeof(bytes), &record), 1);
    assert_int_equal(record.size, size);
    return record;
}

static void a_load_has_its_code_and_room_for_its_name(void **state)
{
    struct sxs_jit_record record = load(SXS_JIT_DUMP_LOAD + 5 + 32, 32);
    (void)state;
    assert_true(record.is_load);
    assert_int_equal(record.lo, 0x1000);
    assert_int_equal(record.code_size, 32);
    assert_int_equal(record.name_room, 5);
}

static void a_load_whose_sizes_contradict_each_other_is_none(void **state)
{
    (void)state;
    assert_false(load(SXS_JIT_DUMP_LOAD, 0).is_load);
    assert_false(load(SXS_JIT_DUMP_PREFIX, 0).is_load);
    assert_false(load(SXS_JIT_DUMP_LOAD + 32, 32).is_load); /* no room for the name */
    assert_false(load(SXS_JIT_DUMP_LOAD + 32, 33).is_load);
    assert_false(load(SXS_JIT_DUMP_LOAD + 32, UINT64_MAX).is_load);
    assert_false(load(UINT32_MAX, UINT32_MAX).is_load);
    assert_true(load(SXS_JIT_DUMP_LOAD + 1, 0).is_load);
}

static void records_of_other_kinds_have_their_size_alone(void **state)
{
    uint8_t               bytes[SXS_JIT_DUMP_PREFIX] = {0};
    struct sxs_jit_record record;
    (void)state;
    for (uint32_t kind = 1; kind < 8; kind++) {
        put(bytes, kind, 4);
        put(bytes + 4, 100, 4);
        assert_int_equal(sxs_jit_dump_record(bytes, sizeof(bytes), &record), 1);
        assert_int_equal(record.size, 100);
        assert_false(record.is_load);
    }
}

static void a_record_smaller_than_its_beginning_is_damaged(void **state)
{
    uint8_t               bytes[SXS_JIT_DUMP_LOAD] = {0};
    struct sxs_jit_record record;
    (void)state;
    for (uint32_t size = 0; size < SXS_JIT_DUMP_PREFIX; size++) {
        put(bytes + 4, size, 4);
        assert_int_equal(sxs_jit_dump_record(bytes, sizeof(bytes), &record), -1);
    }
}

static void a_load_is_read_when_its_beginning_is_there(void **state)
{
    uint8_t               bytes[SXS_JIT_DUMP_LOAD] = {0};
    struct sxs_jit_record record;
    (void)state;
    put(bytes + 4, 100, 4);
    for (size_t n = SXS_JIT_DUMP_PREFIX; n < sizeof(bytes); n++)
        assert_int_equal(sxs_jit_dump_record(bytes, n, &record), 0);
    assert_int_equal(sxs_jit_dump_record(bytes, sizeof(bytes), &record), 1);
}

static void a_header_of_another_version_or_byte_order_is_none(void **state)
{
    static const struct {
        uint32_t magic, version, size, result;
    } cases[] = {
        {0x4a695444, 1, 40, 40}, {0x4a695444, 1, 48, 48}, {0x4454694a, 1, 40, 0},
        {0x4a695444, 2, 40, 0},  {0x4a695444, 1, 39, 0},  {0x4a695444, 1, UINT32_MAX, 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t bytes[SXS_JIT_DUMP_HEADER] = {0};
        put(bytes, cases[i].magic, 4);
        put(bytes + 4, cases[i].version, 4);
        put(bytes + 8, cases[i].size, 4);
        assert_int_equal(sxs_jit_dump_header(bytes), cases[i].result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_has_its_code_and_room_for_its_name),
        cmocka_unit_test(a_load_whose_sizes_contradict_each_other_is_none),
        cmocka_unit_test(records_of_other_kinds_have_their_size_alone),
        cmocka_unit_test(a_record_smaller_than_its_beginning_is_damaged),
        cmocka_unit_test(a_load_is_read_when_its_beginning_is_there),
        cmocka_unit_test(a_header_of_another_version_or_byte_order_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
