/* SPDX-License-Identifier: MIT */
/* test_tools_events.c - each tool gets the events it asked for, and only those, in
 * order; what it answers. */
#include "tests/unit/tools_fixture.h"

/* ---- every event ----------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    unsigned    slot;
    uint32_t    low, high;
    int         always;
} rows[] = {
#define SXS_EVENT(event, l, h, a) {#event, SXS_SLOT_##event, (l), (h), (a)},
#include "sxs_events.inc"
#undef SXS_EVENT
};
static const struct row *row; /* the test at hand's */

static void raise_row(const struct fake_host *h, int forced)
{
    static BOOL scratch; /* for out parameters, wherever the slot has one */
    uint64_t    args[10] = {0x11, 0x22, 0, 0, 0, 0, 0, 0, 0, 0};
    if (row->slot == SXS_SLOT_JITInlining)
        args[2] = (uintptr_t)&scratch;
    CHECK_EQ(h->c->raise(row->name, forced, 10, args), S_OK);
}

static void asked_body(void)
{
    spies[FIRST].low = row->low;
    spies[FIRST].high = row->high;
    spies[SECOND].low = LOW(ALL) & ~row->low;
    spies[SECOND].high = 0x1ff & ~row->high;
    spies[FIRST].inline_answer = spies[SECOND].inline_answer = -1;
    struct fake_host h = begin("10.0", 2);
    unsigned         before = count(FIRST, row->slot), others = count(SECOND, row->slot);
    CHECK(h.c->would_raise(row->name));
    raise_row(&h, 0);
    CHECK_EQ(count(FIRST, row->slot), before + 1);
    CHECK_EQ(count(SECOND, row->slot), others + (unsigned)row->always);
    fake_end(&h);
}

static void unasked_body(void)
{
    spies[FIRST].low = LOW(ALL) & ~row->low;
    spies[FIRST].high = 0x1ff & ~row->high;
    spies[SECOND].low = spies[SECOND].high = 0;
    spies[FIRST].inline_answer = -1;
    struct fake_host h = begin("10.0", 2);
    raise_row(&h, 1);
    CHECK_EQ(count(FIRST, row->slot), 0);
    CHECK_EQ(count(SECOND, row->slot), 0);
    fake_end(&h);
}

static void each_event_reaches_the_tools_that_asked_for_it_and_no_other(void **state)
{
    (void)state;
    assert_int_equal(ARRAY_LEN(rows), SXS_N_CALLBACK_SLOTS - 3 - 5); /* IUnknown, life cycle */
    for (row = rows; row < rows + ARRAY_LEN(rows); row++) {
        int how = child_status(asked_body);
        if (how)
            fail_msg("%s: status 0x%x", row->name, how);
    }
}

static void an_event_that_nobody_asked_for_is_not_delivered_though_it_is_raised(void **state)
{
    (void)state;
    for (row = rows; row < rows + ARRAY_LEN(rows); row++) {
        if (row->always)
            continue;
        int how = child_status(unasked_body);
        if (how)
            fail_msg("%s: status 0x%x", row->name, how);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static void order_body(void)
{
    for (int i = 0; i < N_SPIES; i++)
        spies[i].low = LOW(JIT_COMPILATION);
    struct fake_host h = with_tools("8.0", 3);
    CHECK_EQ(fake_initialize(&h), S_OK);
    CHECK(strcmp(order, "ABC") == 0);
    fake_raise0(&h, "JITCompilationStarted", 5, 1);
    CHECK(strcmp(order, "ABC123") == 0);
    fake_end(&h);
    CHECK(strcmp(order, "ABC123cbazyx") == 0);
    for (int i = 0; i < N_SPIES; i++) {
        CHECK_EQ(spies[i].started, 1);
        CHECK_EQ(spies[i].stopped, 1);
        CHECK_EQ(spies[i].released, 1);
        CHECK_EQ(spies[i].detached, 0);
    }
}

static void tools_are_called_first_to_last_and_stopped_last_to_first(void **state)
{
    (void)state;
    PASSES(order_body);
}

static void options_body(void)
{
    setenv("SXSPROF_TOOLS", "second:depth=3,x:y;first", 1);
    struct fake_host h = begin("8.0", 3);
    CHECK(strcmp(spies[SECOND].options, "depth=3,x:y") == 0);
    CHECK(strcmp(spies[FIRST].options, "") == 0);
    fake_end(&h);
}

static void a_tool_is_handed_its_own_options(void **state)
{
    (void)state;
    PASSES(options_body);
}

/* ---- what handlers answer -------------------------------------------------------------------- */

static BOOL inlined(const struct fake_host *h, int first_says, int second_says, BOOL before)
{
    BOOL     out = before;
    uint64_t args[3] = {0x11, 0x22, (uintptr_t)&out};
    spies[FIRST].inline_answer = first_says;
    spies[SECOND].inline_answer = second_says;
    CHECK_EQ(h->c->raise("JITInlining", 0, 3, args), S_OK);
    return out;
}

static void out_body(void)
{
    spies[FIRST].low = spies[SECOND].low = LOW(JIT_COMPILATION);
    struct fake_host h = begin("8.0", 2);
    CHECK_EQ(inlined(&h, -1, -1, 0), 0); /* left alone, it stays what the runtime put there */
    CHECK_EQ(inlined(&h, -1, -1, 1), 1);
    CHECK_EQ(inlined(&h, -1, -1, 42), 42);
    CHECK_EQ(inlined(&h, 1, -1, 0), 1);
    CHECK_EQ(inlined(&h, 0, -1, 1), 0);
    CHECK_EQ(inlined(&h, -1, 0, 1), 0);
    CHECK_EQ(inlined(&h, 1, 0, 1), 0); /* the last word counts */
    fake_end(&h);
}

static void out_parameters_pass_through(void **state)
{
    (void)state;
    PASSES(out_body);
}

static void hresult_body(void)
{
    spies[FIRST].low = spies[SECOND].low = LOW(JIT_COMPILATION);
    struct fake_host h = begin("8.0", 2);
    spies[FIRST].event_result = S_FALSE;
    CHECK_EQ(fake_raise0(&h, "JITCompilationStarted", 1, 1), S_OK); /* a success is a success */
    spies[FIRST].event_result = E_FAIL;
    CHECK_EQ(fake_raise0(&h, "JITCompilationStarted", 1, 1), E_FAIL);
    spies[SECOND].event_result = E_OUTOFMEMORY;
    CHECK_EQ(fake_raise0(&h, "JITCompilationStarted", 1, 1), E_OUTOFMEMORY);
    spies[FIRST].event_result = S_OK;
    CHECK_EQ(fake_raise0(&h, "JITCompilationStarted", 1, 1), E_OUTOFMEMORY);
    CHECK(strcmp(order, "12121212") == 0); /* a failure keeps nobody from the event */
    fake_end(&h);
}

static void a_failing_handler_is_reported_to_the_runtime_and_hinders_no_other(void **state)
{
    (void)state;
    PASSES(hresult_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_reaches_the_tools_that_asked_for_it_and_no_other),
        cmocka_unit_test(an_event_that_nobody_asked_for_is_not_delivered_though_it_is_raised),
        cmocka_unit_test(tools_are_called_first_to_last_and_stopped_last_to_first),
        cmocka_unit_test(a_tool_is_handed_its_own_options),
        cmocka_unit_test(out_parameters_pass_through),
        cmocka_unit_test(a_failing_handler_is_reported_to_the_runtime_and_hinders_no_other),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
