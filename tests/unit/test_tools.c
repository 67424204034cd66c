/* SPDX-License-Identifier: MIT */
/* test_tools.c - several tools on one runtime: each gets what it asked for, and only that. */
#include "manager/runtime_internal.h"
#include "tests/unit/fake_host.h"

/* ---- three tools that write down what happens to them ---------------------------------------- */

enum { FIRST, SECOND, THIRD, N_SPIES };

struct seen { /* a spy's state on one runtime */
    int      spy;
    unsigned events[SXS_N_CALLBACK_SLOTS];
    uint64_t last_id; /* of the event handled last */
};

static struct spy {
    uint32_t        low, high; /* what it asks for in start() */
    HRESULT         start_result, event_result;
    int             inline_answer; /* -1: leaves JITInlining's out parameter alone */
    unsigned        started, stopped, released;
    int             detached; /* as stop() was told */
    struct sxs_sub *sub;      /* the latest */
    char            options[32];
} spies[N_SPIES];

static char     order[64]; /* who was called: a letter each */
static unsigned n_order;

static void note(char what)
{
    if (n_order < sizeof(order) - 1)
        order[n_order++] = what;
}

static HRESULT saw(struct sxs_sub *sub, unsigned slot)
{
    struct seen *seen = sub->state;
    seen->events[slot]++;
    note((char)('1' + seen->spy));
    return spies[seen->spy].event_result;
}

#define SXS_EVENT(name, low, high, always)         \
    static HRESULT saw_##name(struct sxs_sub *sub) \
    {                                              \
        return saw(sub, SXS_SLOT_##name);          \
    }
#define saw_JITInlining           saw_JITInlining_plainly
#define saw_JITCompilationStarted saw_JITCompilationStarted_plainly
#include "sxs_events.inc"
#undef saw_JITInlining
#undef saw_JITCompilationStarted
#undef SXS_EVENT

static HRESULT saw_JITInlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                               BOOL *should_inline)
{
    struct seen *seen = sub->state;
    CHECK(caller.rt == sub->rt && callee.rt == sub->rt);
    CHECK_EQ(caller.id, 0x11);
    CHECK_EQ(callee.id, 0x22);
    if (spies[seen->spy].inline_answer >= 0)
        *should_inline = spies[seen->spy].inline_answer;
    return saw_JITInlining_plainly(sub);
}

static HRESULT saw_JITCompilationStarted(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    (void)safe;
    CHECK(function.rt == sub->rt); /* the ID says whose it is */
    ((struct seen *)sub->state)->last_id = function.id;
    return saw_JITCompilationStarted_plainly(sub);
}

/* Handlers take what a slot passes or less: the caller cleans up. */
static const struct sxs_events everything = {
#define SXS_EVENT(name, low, high, always) .name = (void *)(uintptr_t)saw_##name,
#include "sxs_events.inc"
#undef SXS_EVENT
};

static HRESULT spy_start(int which, struct sxs_sub *sub, const char *options)
{
    struct spy  *spy = &spies[which];
    struct seen *seen = calloc(1, sizeof(*seen));
    CHECK(seen);
    seen->spy = which;
    sub->state = seen;
    sub->low = spy->low;
    sub->high = spy->high;
    spy->sub = sub;
    spy->started++;
    snprintf(spy->options, sizeof(spy->options), "%s", options);
    note((char)('A' + which));
    return spy->start_result;
}

static void spy_stop(struct sxs_sub *sub, int detached)
{
    struct seen *seen = sub->state;
    spies[seen->spy].stopped++;
    spies[seen->spy].detached = detached;
    note((char)('a' + seen->spy));
}

static void spy_release(struct sxs_sub *sub)
{
    struct seen *seen = sub->state;
    spies[seen->spy].released++;
    note((char)('x' + seen->spy));
    free(seen);
}

static HRESULT start_first(struct sxs_sub *sub, const char *options)
{
    return spy_start(FIRST, sub, options);
}

static HRESULT start_second(struct sxs_sub *sub, const char *options)
{
    return spy_start(SECOND, sub, options);
}

static HRESULT start_third(struct sxs_sub *sub, const char *options)
{
    return spy_start(THIRD, sub, options);
}

#define SPY(n, ...)                                                          \
    {                                                                        \
        .name = #n, .on = &everything, .start = start_##n, .stop = spy_stop, \
        .release = spy_release, __VA_ARGS__                                  \
    }
static const struct sxs_tool        first = SPY(first, .always = 1);
static const struct sxs_tool        second = SPY(second, .always = 1);
static const struct sxs_tool        third = SPY(third, .always = 1, .on_guarded = 1);
static const struct sxs_tool *const three[] = {&first, &second, &third};

static unsigned count(int spy, unsigned slot)
{
    return ((struct seen *)spies[spy].sub->state)->events[slot];
}

#define COUNT(spy, name) count(spy, SXS_SLOT_##name)

static struct fake_host with_tools(const char *version, size_t n)
{
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(three, n);
    struct fake_host h = fake_load(version);
    return h;
}

static struct fake_host begin(const char *version, size_t n)
{
    struct fake_host h = with_tools(version, n);
    CHECK_EQ(fake_initialize(&h), S_OK);
    CHECK_EQ(h.c->load_state(), FAKECLR_ACTIVE);
    memset(order, 0, sizeof(order));
    n_order = 0;
    return h;
}

static void mask_is(const struct fake_host *h, uint32_t low, uint32_t high)
{
    uint32_t now_low, now_high;
    h->c->mask(&now_low, &now_high);
    CHECK_EQ(now_low, low);
    CHECK_EQ(now_high, high);
}

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

/* ---- masks ----------------------------------------------------------------------------------- */

static const char *version; /* the test at hand's */

static void union_body(void)
{
    spies[FIRST].low = LOW(JIT_COMPILATION) | LOW(ENTERLEAVE);
    spies[SECOND].low = LOW(JIT_COMPILATION) | LOW(MODULE_LOADS);
    struct fake_host h = begin(version, 3);
    mask_is(&h, LOW(JIT_COMPILATION) | LOW(ENTERLEAVE) | LOW(MODULE_LOADS), 0);
    CHECK_EQ(h.c->called("SetEventMask") + h.c->called("SetEventMask2"),
             1); /* asked once, for all */
    fake_end(&h);
}

static const char *const versions[] = {"2.0", "4.0", "3.1", "5.0", "6.0",
                                       "7.0", "8.0", "9.0", "10.0"};

static void the_runtime_is_asked_once_for_the_union_of_all_masks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(union_body);
    }
}

static void high_body(void)
{
    int has_high = !strstr("2.0 4.0", version);
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].low = LOW(THREADS);
    spies[SECOND].high = COR_PRF_HIGH_BASIC_GC;
    spies[THIRD].low = LOW(EXCEPTIONS);
    capture();
    struct fake_host h = begin(version, 3);
    const char      *said = captured();
    CHECK_EQ(lines_of(said), !has_high);
    if (has_high) {
        mask_is(&h, LOW(MODULE_LOADS) | LOW(THREADS) | LOW(EXCEPTIONS), COR_PRF_HIGH_BASIC_GC);
        CHECK_EQ(h.c->called("SetEventMask"), 0);
        CHECK_EQ(spies[SECOND].released, 0);
    } else {
        CHECK(strstr(said, "tool second is off for runtime 1"));
        mask_is(&h, LOW(MODULE_LOADS) | LOW(EXCEPTIONS), 0);
        CHECK_EQ(h.c->called("SetEventMask2"), 0); /* its slot is past that runtime's vtable */
        CHECK_EQ(spies[SECOND].released, 1);
        fake_raise0(&h, "ThreadCreated", 1, 0);
        CHECK_EQ(n_order, 0);
    }
    unsigned before = COUNT(FIRST, ModuleLoadStarted);
    fake_raise0(&h, "ModuleLoadStarted", 1, 0);
    CHECK_EQ(COUNT(FIRST, ModuleLoadStarted), before + 1);
    CHECK_EQ(COUNT(THIRD, ModuleLoadStarted), 0);
    fake_end(&h);
}

static void high_bits_are_refused_to_their_tool_alone_where_there_are_none(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(high_body);
    }
}

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

/* ---- changing masks -------------------------------------------------------------------------- */

static void too_late_body(void)
{
    uint32_t immutable = LOW(CODE_TRANSITIONS);
    spies[FIRST].low = LOW(MODULE_LOADS);
    spies[SECOND].low = LOW(THREADS);
    struct fake_host h = begin(version, 2);
    uint64_t         asked = h.c->called("SetEventMask") + h.c->called("SetEventMask2");
    capture();
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(THREADS) | immutable, 0),
             CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second"));
    CHECK_EQ(h.c->called("SetEventMask") + h.c->called("SetEventMask2"), asked);
    CHECK_EQ(spies[SECOND].sub->low, LOW(THREADS));
    mask_is(&h, LOW(MODULE_LOADS) | LOW(THREADS), 0);
    fake_raise0(&h, "ThreadCreated", 9, 0);
    fake_raise0(&h, "ModuleLoadStarted", 9, 0);
    CHECK(strcmp(order, "21") == 0);
    fake_end(&h);
}

static void an_immutable_flag_too_late_is_an_error_to_that_tool_alone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(versions); i++) {
        version = versions[i];
        PASSES(too_late_body);
    }
}

static void high_too_late_body(void)
{
    struct fake_host h = begin("9.0", 2);
    capture();
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, 0, COR_PRF_HIGH_DISABLE_TIERED_COMPILATION),
             CORPROF_E_UNSUPPORTED_CALL_SEQUENCE);
    CHECK_EQ(lines_of(captured()), 1);
    mask_is(&h, 0, 0);
    fake_end(&h);
}

static void the_same_holds_for_immutable_high_bits(void **state)
{
    (void)state;
    PASSES(high_too_late_body);
}

static void change_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS) | LOW(CODE_TRANSITIONS);
    spies[SECOND].low = LOW(THREADS);
    struct fake_host h = begin("8.0", 2);
    /* more, and what the runtime was asked for anyhow */
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(JIT_COMPILATION) | LOW(CODE_TRANSITIONS),
                              COR_PRF_HIGH_BASIC_GC),
             S_OK);
    mask_is(&h, LOW(MODULE_LOADS) | LOW(CODE_TRANSITIONS) | LOW(JIT_COMPILATION),
            COR_PRF_HIGH_BASIC_GC);
    CHECK_EQ(fake_raise0(&h, "ThreadCreated", 1, 0), S_FALSE); /* nobody asks for it any more */
    fake_raise0(&h, "GarbageCollectionFinished", 0, 0);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "212") == 0);
    /* nothing at all: the immutable bit stays with the runtime, the events do not come here */
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, 0, 0), S_OK);
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, 0, 0), S_OK);
    mask_is(&h, LOW(CODE_TRANSITIONS), 0);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "212") == 0);
    /* and back: immutable, but asked for in Initialize */
    CHECK_EQ(sxs_sub_set_mask(spies[FIRST].sub, LOW(CODE_TRANSITIONS), 0), S_OK);
    fake_raise0(&h, "UnmanagedToManagedTransition", 1, 0);
    CHECK(strcmp(order, "2121") == 0);
    fake_end(&h);
}

static void masks_may_grow_and_shrink_while_the_runtime_runs(void **state)
{
    (void)state;
    PASSES(change_body);
}

static void change_refused_body(void)
{
    spies[FIRST].low = LOW(MODULE_LOADS);
    struct fake_host h = begin("8.0", 2);
    h.c->fail_call("SetEventMask2", E_FAIL, 1);
    CHECK_EQ(sxs_sub_set_mask(spies[SECOND].sub, LOW(THREADS), 0), E_FAIL);
    CHECK_EQ(spies[SECOND].sub->low, 0);
    CHECK_EQ(fake_raise0(&h, "ThreadCreated", 1, 0), S_FALSE);
    fake_raise0(&h, "ModuleLoadStarted", 1, 0);
    CHECK(strcmp(order, "1") == 0);
    fake_end(&h);
}

static void a_change_that_the_runtime_refuses_changes_nothing(void **state)
{
    (void)state;
    PASSES(change_refused_body);
}

/* ---- tools that cannot be had ---------------------------------------------------------------- */

static void start_fails_body(void)
{
    spies[FIRST].low = spies[SECOND].low = spies[THIRD].low = LOW(JIT_COMPILATION);
    spies[SECOND].low |= LOW(ENTERLEAVE);
    spies[SECOND].start_result = E_OUTOFMEMORY;
    capture();
    struct fake_host h = begin("9.0", 3);
    const char      *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second is off for runtime 1 (9.0.0)") &&
          strstr(said, "E_OUTOFMEMORY"));
    mask_is(&h, LOW(JIT_COMPILATION), 0);
    fake_raise0(&h, "JITCompilationStarted", 1, 0);
    CHECK(strcmp(order, "13") == 0);
    fake_end(&h);
    CHECK(strcmp(order, "13cazx") == 0);
    CHECK_EQ(spies[SECOND].released, 1);
    CHECK_EQ(spies[SECOND].stopped, 0);
}

static void a_tool_that_cannot_start_is_left_out_alone(void **state)
{
    (void)state;
    PASSES(start_fails_body);
}

/* An attaching profiler may not ask for everything: here the runtime itself refuses one mask. */
static void refused_body(void)
{
    GUID             clsid = {0};
    struct fake_host h = with_tools("8.0", 3);
    unsetenv("CORECLR_ENABLE_PROFILING");
    CHECK_EQ(fake_initialize(&h), S_OK);
    spies[FIRST].low = LOW(JIT_COMPILATION);
    spies[SECOND].low = LOW(CODE_TRANSITIONS) | LOW(THREADS);
    spies[THIRD].low = LOW(JIT_COMPILATION) | LOW(EXCEPTIONS);
    capture();
    CHECK_EQ(h.c->attach("@program:fake_host_class_object", &clsid, NULL, 0), S_OK);
    const char *said = captured();
    CHECK_EQ(lines_of(said), 1);
    CHECK(strstr(said, "tool second is off") && strstr(said, "refuses its event mask"));
    mask_is(&h, LOW(JIT_COMPILATION) | LOW(EXCEPTIONS), 0);
    CHECK_EQ(spies[SECOND].released, 1);
    n_order = 0;
    memset(order, 0, sizeof(order));
    fake_raise0(&h, "JITCompilationStarted", 1, 0);
    fake_raise0(&h, "ThreadCreated", 1, 0);
    fake_raise0(&h, "ExceptionThrown", 1, 0);
    CHECK(strcmp(order, "133") == 0);
    fake_end(&h);
}

static void a_tool_whose_mask_the_runtime_refuses_is_left_out_alone(void **state)
{
    (void)state;
    PASSES(refused_body);
}

/* ---- runtimes apart -------------------------------------------------------------------------- */

static void two_runtimes_body(void)
{
    spies[FIRST].low = LOW(JIT_COMPILATION);
    struct fake_host eight = begin("8.0", 1);
    struct sxs_sub  *sub8 = spies[FIRST].sub;
    struct fake_host nine = begin("9.0", 1);
    struct sxs_sub  *sub9 = spies[FIRST].sub;
    struct seen     *seen8 = sub8->state, *seen9 = sub9->state;
    CHECK(sub8 != sub9 && seen8 != seen9 && sub8->rt != sub9->rt);
    fake_raise0(&eight, "JITCompilationStarted", 0x77, 1);
    CHECK_EQ(seen8->last_id, 0x77); /* the same FunctionID may exist in both */
    CHECK_EQ(seen9->last_id, 0);
    fake_raise0(&nine, "JITCompilationStarted", 0x78, 1);
    CHECK_EQ(seen8->last_id, 0x77);
    CHECK_EQ(seen9->last_id, 0x78);
    CHECK_EQ(sxs_sub_set_mask(sub8, 0, 0), S_OK);
    mask_is(&eight, 0, 0);
    mask_is(&nine, LOW(JIT_COMPILATION), 0);
    fake_end(&eight);
    CHECK_EQ(spies[FIRST].released, 1);
    fake_raise0(&nine, "JITCompilationStarted", 0x79, 1);
    CHECK_EQ(seen9->last_id, 0x79);
    fake_end(&nine);
    CHECK_EQ(spies[FIRST].released, 2);
}

static void state_and_masks_are_each_runtimes_own(void **state)
{
    (void)state;
    PASSES(two_runtimes_body);
}

static void guarded_body(void)
{
    setenv("SXSPROF_PICK", "one:99", 1);
    spies[FIRST].low = LOW(JIT_COMPILATION);
    spies[THIRD].low = LOW(THREADS);
    struct fake_host h = begin("8.0", 3);
    mask_is(&h, LOW(THREADS), 0);
    CHECK_EQ(spies[FIRST].started, 0);
    CHECK_EQ(spies[THIRD].started, 1);
    CHECK(!sxs_runtime_is_picked(spies[THIRD].sub->rt));
    fake_end(&h);
}

static void a_guarded_runtime_has_only_the_tools_that_want_guarded_ones(void **state)
{
    (void)state;
    PASSES(guarded_body);
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

static void a_failing_handler_is_told_to_the_runtime_and_hinders_nobody(void **state)
{
    (void)state;
    PASSES(hresult_body);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_is_asked_once_for_the_union_of_all_masks),
        cmocka_unit_test(high_bits_are_refused_to_their_tool_alone_where_there_are_none),
        cmocka_unit_test(each_event_reaches_the_tools_that_asked_for_it_and_no_other),
        cmocka_unit_test(an_event_that_nobody_asked_for_is_not_delivered_though_it_is_raised),
        cmocka_unit_test(tools_are_called_first_to_last_and_stopped_last_to_first),
        cmocka_unit_test(a_tool_is_handed_its_own_options),
        cmocka_unit_test(an_immutable_flag_too_late_is_an_error_to_that_tool_alone),
        cmocka_unit_test(the_same_holds_for_immutable_high_bits),
        cmocka_unit_test(masks_may_grow_and_shrink_while_the_runtime_runs),
        cmocka_unit_test(a_change_that_the_runtime_refuses_changes_nothing),
        cmocka_unit_test(a_tool_that_cannot_start_is_left_out_alone),
        cmocka_unit_test(a_tool_whose_mask_the_runtime_refuses_is_left_out_alone),
        cmocka_unit_test(state_and_masks_are_each_runtimes_own),
        cmocka_unit_test(a_guarded_runtime_has_only_the_tools_that_want_guarded_ones),
        cmocka_unit_test(out_parameters_pass_through),
        cmocka_unit_test(a_failing_handler_is_told_to_the_runtime_and_hinders_nobody),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
