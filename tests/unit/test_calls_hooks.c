/* SPDX-License-Identifier: MIT */
/* The hooks themselves: no register changes, and what they count on good and bad days. */
#include "tests/unit/calls_fixture.h"

extern char sxs_elt_xsave;

/* ---- registers --------------------------------------------------------------------------------- */

/* In the order that the assembly below has them. */
enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, R8, R9, R10, R11, R12, R13, R14, R15, N_INTEGERS };
struct registers {
    uint64_t integer[16];
    uint64_t vector[16][4];
};
struct registers regs_in, regs_out;
void            *hook_to_call;
void             call_hook(void);      /* all of both, vectors of 256 bits */
void             call_hook_sse(void);  /* of 128 bits */

__asm__(".macro each_integer op\n"
        "  \\op %rbx, 8\n  \\op %rcx, 16\n  \\op %rdx, 24\n  \\op %rsi, 32\n  \\op %rdi, 40\n"
        "  \\op %rbp, 48\n  \\op %r8, 56\n  \\op %r9, 64\n  \\op %r10, 72\n  \\op %r11, 80\n"
        "  \\op %r12, 88\n  \\op %r13, 96\n  \\op %r14, 104\n  \\op %r15, 112\n"
        ".endm\n"
        ".macro get reg, at\n  mov regs_in+\\at(%rip), \\reg\n.endm\n"
        ".macro put reg, at\n  mov \\reg, regs_out+\\at(%rip)\n.endm\n"
        ".macro vectors insn, reg, from, to\n"
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
        ".if \\to\n  \\insn %\\reg\\n, regs_out+128+32*\\n(%rip)\n"
        ".else\n  \\insn regs_in+128+32*\\n(%rip), %\\reg\\n\n.endif\n"
        ".endr\n.endm\n"
        ".macro caller name, insn, reg\n"
        ".globl \\name\n.type \\name, @function\n\\name:\n"
        "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  sub $8, %rsp\n"
        "  vectors \\insn, \\reg, 1, 0\n"
        "  each_integer get\n"
        "  mov regs_in(%rip), %rax\n"
        "  call *hook_to_call(%rip)\n"
        "  mov %rax, regs_out(%rip)\n"
        "  each_integer put\n"
        "  vectors \\insn, \\reg, 0, 1\n"
        "  add $8, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n"
        "  ret\n.size \\name, . - \\name\n.endm\n"
        ".text\n"
        "caller call_hook, vmovdqu, ymm\n"
        "caller call_hook_sse, movdqu, xmm\n");

/* Calls @hook, whose arguments are as a runtime passes them. NULL, or the register it changed. */
static const char *same_after(void (*hook)(void), int enters, struct sxs_called *fn, uintptr_t sp)
{
    static char said[64];
    int         words = sxs_elt_xsave ? 4 : 2;
    for (int i = 0; i < N_INTEGERS; i++)
        regs_in.integer[i] = UINT64_C(0x1111111111111111) * (uint64_t)(i + 1);
    for (int i = 0; i < 64; i++)
        regs_in.vector[i / 4][i % 4] = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1);
    regs_in.integer[enters ? R14 : RDI] = (uintptr_t)fn;
    regs_in.integer[enters ? R15 : RSI] = sp;
    memset(&regs_out, 0, sizeof(regs_out));
    memcpy(&hook_to_call, &hook, sizeof(hook));
    if (sxs_elt_xsave)
        call_hook();
    else
        call_hook_sse();
    for (int i = 0; i < N_INTEGERS; i++)
        if (regs_in.integer[i] != regs_out.integer[i]) {
            snprintf(said, sizeof(said), "integer register %d", i);
            return said;
        }
    for (int i = 0; i < 64; i++)
        if (i % 4 < words && regs_in.vector[i / 4][i % 4] != regs_out.vector[i / 4][i % 4]) {
            snprintf(said, sizeof(said), "vector register %d, word %d", i / 4, i % 4);
            return said;
        }
    return NULL;
}

static const struct sxs_calls_hooks *hooks;

static const char *keeps_registers(unsigned mode)
{
    const char *said = NULL;
    /* slow: a thread's first, a function's first, a duration's first; then the fast path */
    for (unsigned round = 0; round < 50 && !said; round++) {
        struct sxs_called *fn = &called[round % 3];
        called[3].off = round >= 30; /* timed no longer */
        said = same_after(hooks[mode].enter, 1, fn, 0x10000);
        if (!said)
            said = same_after(hooks[mode].enter, 1, &called[3], 0x9000);
        if (!said)
            said = same_after(round & 1 ? hooks[mode].leave : hooks[mode].tailcall, 0, &called[3],
                              0x9000);
        if (!said)
            said = same_after(hooks[mode].leave, 0, fn, 0x10000);
        if (!said) /* one that never began */
            said = same_after(hooks[mode].leave, 0, &called[4], 0x10000);
    }
    called[3].off = 0;
    return said;
}

static const char *keeps_registers_tree(void) { return keeps_registers(SXS_CALLS_TREE); }
static const char *keeps_registers_time(void) { return keeps_registers(SXS_CALLS_TIME); }
static const char *keeps_registers_count(void) { return keeps_registers(SXS_CALLS_COUNT); }
static const char *keeps_registers_trace(void) { return keeps_registers(SXS_CALLS_TRACE_HOOKS); }

/* Traced calls are recorded by threads that begin while there may be blocks of events. */
static void on_traced_thread(calls_test test, uint32_t blocks)
{
    head->max_blocks = blocks;
    on_thread(test);
    head->max_blocks = 0;
    atomic_store(&head->n_blocks, 0);
}

static void every_register_is_kept(void **state)
{
    (void)state;
    on_thread(keeps_registers_tree);
    on_thread(keeps_registers_time);
    on_thread(keeps_registers_count);
    on_traced_thread(keeps_registers_trace, 4);
}

static void without_avx_too(void **state)
{
    char had = sxs_elt_xsave;
    (void)state;
    sxs_elt_xsave = 0;
    on_thread(keeps_registers_tree);
    on_thread(keeps_registers_time);
    on_thread(keeps_registers_count);
    on_traced_thread(keeps_registers_trace, 4);
    sxs_elt_xsave = had;
}

/* ---- counting ---------------------------------------------------------------------------------- */

static unsigned mode_now = SXS_CALLS_TREE;

static void enter(unsigned fn, uintptr_t sp)
{
    same_after(hooks[mode_now].enter, 1, &called[fn], sp);
}

static void leave(unsigned fn, uintptr_t sp)
{
    same_after(hooks[mode_now].leave, 0, &called[fn], sp);
}

static size_t depth(void)
{
    return (size_t)(sxs_calls_state->top - sxs_calls_state->frames);
}

static const struct sxs_calls_node *node(void) { return sxs_calls_state->top->node; }

static const char *paths_are_distinguished(void)
{
    const struct sxs_calls_node *under_b;
    enter(0, 0x1000);
    enter(1, 0xf00);
    enter(2, 0xe00);
    under_b = node();
    leave(2, 0xe00);
    enter(2, 0xe00);
    SO(node() == under_b && under_b->calls == 2);
    leave(2, 0xe00);
    leave(1, 0xf00);
    enter(2, 0xf00);
    SO(node() != under_b && node()->calls == 1);
    leave(2, 0xf00);
    leave(0, 0x1000);
    SO(depth() == 0 && under_b->entered == 0 && under_b->ticks > 0);
    SO(sxs_calls_state->record->unmatched == 0 && sxs_calls_state->record->stale == 0);
    return NULL;
}

static const char *frames_that_vanish_are_dropped(void)
{
    enter(0, 0x1000);
    enter(1, 0xf00);
    enter(2, 0xe00);
    enter(3, 0xf80); /* above b and c: they are gone */
    SO(depth() == 2 && sxs_calls_state->record->stale == 2);
    leave(0, 0x1000);
    SO(depth() == 0 && sxs_calls_state->record->stale == 3);
    enter(0, 0x1000);
    enter(0,
          0x1000); /* a tail call that no hook reported, or a frame that was left: the same place */
    SO(depth() == 1 && sxs_calls_state->record->stale == 4);
    leave(0, 0x1000);
    SO(depth() == 0);
    return NULL;
}

static const char *leaves_without_enter_are_counted(void)
{
    leave(0, 0x1000); /* a thread's first word */
    SO(!sxs_calls_state);
    enter(0, 0x1000);
    leave(1, 0x1000);
    leave(0, 0xf00);
    SO(depth() == 1 && sxs_calls_state->record->unmatched == 2);
    leave(0, 0x1000);
    leave(0, 0x1000);
    SO(depth() == 0 && sxs_calls_state->record->unmatched == 3);
    return NULL;
}

static const char *deep_stacks_grow(void)
{
    uintptr_t sp = UINT64_C(1) << 40;
    for (unsigned i = 0; i < 20000; i++)
        enter(i & 1, sp - 64 * i);
    SO(depth() == 20000 && sxs_calls_state->record->too_deep == 0);
    for (unsigned i = 20000; i-- > 0;)
        leave(i & 1, sp - 64 * i);
    SO(depth() == 0 && sxs_calls_state->record->unmatched == 0);
    SO(sxs_calls_state->record->stale == 0);
    return NULL;
}

static const char *too_deep_is_counted_and_survived(void)
{
    uintptr_t sp = UINT64_C(1) << 40;
    unsigned  n = (1u << 20) + 1000;
    uint64_t  calls;
    for (unsigned i = 0; i < n; i++)
        enter(0, sp - 64 * (uintptr_t)i);
    SO(depth() < n && sxs_calls_state->record->too_deep == n - depth());
    for (unsigned i = n; i-- > 0;)
        leave(0, sp - 64 * (uintptr_t)i);
    SO(depth() == 0);
    calls = sxs_calls_state->flat[0]->calls;
    SO(calls == n && sxs_calls_state->flat[0]->active == 0);
    enter(0, sp);
    leave(0, sp);
    SO(sxs_calls_state->flat[0]->calls == n + 1);
    return NULL;
}

static const char *recursion_counts_once_in_total(void)
{
    const struct sxs_calls_node *n = NULL, *other;
    for (unsigned round = 1; round < 100; round++) { /* the first ones are off the fast path */
        uint64_t before = n ? n->ticks : 0;
        enter(0, 0x1000);
        enter(1, 0xf00);
        enter(0, 0xe00);
        n = sxs_calls_state->flat[0];
        other = sxs_calls_state->flat[1];
        SO(n->active == 2 && n->ticks == before && n->calls == 2ull * round);
        leave(0, 0xe00);
        SO(n->active == 1 && n->ticks == before && n->self > 0);
        leave(1, 0xf00);
        leave(0, 0x1000);
        SO(n->active == 0 && other->active == 0 && other->calls == round);
        SO(n->ticks == n->self + other->self && other->ticks > other->self);
        SO(sxs_calls_state->frames[0].callees == n->ticks);
    }
    return NULL;
}

static const char *functions_timed_no_longer_have_no_frames(void)
{
    enter(0, 0x1000);
    enter(1, 0xf00);
    atomic_store(&called[1].off, 1);
    enter(1, 0xe00);
    SO(depth() == 2 && node()->calls == (mode_now == SXS_CALLS_TIME ? 2 : 1));
    leave(1, 0xe00);
    SO(depth() == 2);
    leave(1, 0xf00); /* the one that still has a frame */
    SO(depth() == 1);
    leave(0, 0x1000);
    SO(depth() == 0 && sxs_calls_state->record->unmatched == 0);
    atomic_store(&called[1].off, 0);
    return NULL;
}

/* ---- traced calls ----------------------------------------------------------------------------- */

static const struct sxs_calls_event *event_at(unsigned back)
{
    return sxs_calls_state->event - back;
}

static int is_event(const struct sxs_calls_event *e, unsigned kind, const struct sxs_calls_node *of,
                    uint64_t tick)
{
    return e->kind == kind && sxs_calls_cell(e->node) == of && e->tick == tick;
}

static const char *calls_are_events(void)
{
    for (unsigned round = 0; round < 100; round++) {
        const struct sxs_calls_node *a, *b;
        uint64_t                     start, ticks;
        enter(0, 0x1000);
        a = node();
        SO(is_event(event_at(1), SXS_CALLS_ENTER, a, a->entered));
        enter(1 + (round & 1), 0xf00); /* in turns: not the child that was called last */
        b = node();
        start = sxs_calls_state->top->start;
        ticks = b->ticks;
        SO(start == b->entered && is_event(event_at(1), SXS_CALLS_ENTER, b, start));
        leave(1 + (round & 1), 0xf00);
        SO(is_event(event_at(1), SXS_CALLS_LEAVE, b, start + b->ticks - ticks));
        SO(b->entered == 0 && b->calls == round / 2 + 1);
        leave(0, 0x1000);
        SO(is_event(event_at(4), SXS_CALLS_ENTER, a, event_at(4)->tick));
        SO(is_event(event_at(1), SXS_CALLS_LEAVE, a, event_at(1)->tick));
        SO(event_at(4)->tick <= start && event_at(1)->tick >= event_at(2)->tick);
        SO(depth() == 0 && a->calls == round + 1);
    }
    return NULL;
}

static const char *calls_timed_no_longer_are_no_events(void)
{
    const struct sxs_calls_event *before;
    enter(0, 0x1000);
    enter(1, 0xf00);
    leave(1, 0xf00);
    atomic_store(&called[1].off, SXS_CALLED_OFF);
    before = sxs_calls_state->event;
    enter(1, 0xf00);
    leave(1, 0xf00);
    SO(sxs_calls_state->event == before && depth() == 1);
    atomic_store(&called[1].off, 0);
    leave(0, 0x1000);
    return NULL;
}

/* In two blocks, and then in none: the tree goes on, and what is lost is counted. */
static const char *events_fill_their_blocks(void)
{
    unsigned                     pairs = SXS_CALLS_BLOCK_EVENTS + 100;
    const struct sxs_calls_node *n;
    for (unsigned i = 0; i < pairs; i++) {
        enter(0, 0x1000);
        n = node();
        leave(0, 0x1000);
    }
    SO(n->calls == pairs && depth() == 0 && sxs_calls_state->record->unmatched == 0);
    SO(sxs_calls_state->event == sxs_calls_state->event_end);
    SO(sxs_calls_state->record->events_lost == 200);
    return NULL;
}

static void traced_calls(void **state)
{
    (void)state;
    mode_now = SXS_CALLS_TRACE_HOOKS;
    on_traced_thread(calls_are_events, 4);
    on_traced_thread(calls_timed_no_longer_are_no_events, 4);
    on_traced_thread(events_fill_their_blocks, 2);
    on_traced_thread(paths_are_distinguished, 4);
    on_traced_thread(frames_that_vanish_are_dropped, 4);
    on_traced_thread(leaves_without_enter_are_counted, 4);
    on_traced_thread(functions_timed_no_longer_have_no_frames, 4);
    on_traced_thread(deep_stacks_grow, 64);
    on_thread(paths_are_distinguished); /* with no block to be had */
}

/* ---- exceptions -------------------------------------------------------------------------------- */

static const char *blocks_tell_what_is_gone(void)
{
    enter(0, 0x1000);
    enter(1, 0xf00);
    enter(2, 0xe00);
    enter(3, 0xd00);
    sxs_calls_unwound(0xe40); /* a finally block of b, whose caller's SP is 0xf00 */
    SO(depth() == 2 && sxs_calls_state->top->fn == &called[1]);
    enter(4, 0xd80);
    leave(4, 0xd80);
    sxs_calls_unwound(0xf40); /* a catch block of a */
    SO(depth() == 1 && sxs_calls_state->record->unwound == 3);
    leave(0, 0x1000);
    SO(depth() == 0 && sxs_calls_state->record->stale == 0);
    sxs_calls_unwound(0x2000);
    SO(depth() == 0);
    return NULL;
}

static const char *filters_are_frames(void)
{
    enter(0, 0x1000);
    enter(1, 0xf00);
    sxs_calls_filter_enter(&called[0]);
    SO(depth() == 3 && sxs_calls_state->top->fn == &called[0]);
    enter(2, 0xd00); /* what the filter calls */
    enter(3, 0xc00);
    sxs_calls_filter_enter(NULL); /* one of a function that is not hooked, within */
    enter(4, 0xb00);
    sxs_calls_filter_leave(); /* an exception ended it */
    SO(depth() == 5 && sxs_calls_state->top->fn == &called[3]);
    sxs_calls_filter_leave();
    SO(depth() == 2 && sxs_calls_state->top->fn == &called[1]);
    sxs_calls_filter_leave(); /* one word too many */
    SO(depth() == 2);
    leave(1, 0xf00);
    leave(0, 0x1000);
    SO(depth() == 0 && sxs_calls_state->record->unwound == 3);
    SO(sxs_calls_state->record->stale == 0);
    return NULL;
}

static const char *search_finds_frames_that_are_gone(void)
{
    enter(0, 0x1000);
    enter(1, 0xf00);
    enter(2, 0xe00);
    sxs_calls_search(&called[0]); /* nothing was thrown */
    SO(depth() == 3 && !sxs_calls_is_searching());
    sxs_calls_thrown();
    SO(sxs_calls_is_searching());
    sxs_calls_search(NULL);
    sxs_calls_search(&called[1]); /* c was left in native code */
    sxs_calls_search(&called[0]);
    SO(depth() == 2 && sxs_calls_state->top->fn == &called[1]);
    leave(1, 0xf00);
    leave(0, 0x1000);
    SO(depth() == 0);
    return NULL;
}

static const char *exceptions_before_any_call(void)
{
    sxs_calls_thrown();
    sxs_calls_search(&called[0]);
    sxs_calls_filter_enter(&called[0]);
    sxs_calls_filter_leave();
    sxs_calls_unwound(0x1000);
    SO(!sxs_calls_state && !sxs_calls_is_searching());
    enter(0, 0x1000);
    leave(0, 0x1000);
    sxs_calls_filter_enter(&called[0]);
    sxs_calls_filter_leave();
    SO(depth() == 0);
    return NULL;
}

static void shadow_stacks(void **state)
{
    (void)state;
    mode_now = SXS_CALLS_TREE;
    on_thread(paths_are_distinguished);
    for (mode_now = SXS_CALLS_TIME; mode_now <= SXS_CALLS_TREE; mode_now++) {
        on_thread(frames_that_vanish_are_dropped);
        on_thread(leaves_without_enter_are_counted);
        on_thread(functions_timed_no_longer_have_no_frames);
    }
    mode_now = SXS_CALLS_TREE;
    on_thread(deep_stacks_grow);
    mode_now = SXS_CALLS_TIME;
    on_thread(deep_stacks_grow);
    on_thread(too_deep_is_counted_and_survived);
    on_thread(recursion_counts_once_in_total);
}

static void exceptions(void **state)
{
    (void)state;
    for (mode_now = SXS_CALLS_TIME; mode_now <= SXS_CALLS_TREE; mode_now++) {
        on_thread(blocks_tell_what_is_gone);
        on_thread(filters_are_frames);
        on_thread(search_finds_frames_that_are_gone);
        on_thread(exceptions_before_any_call);
    }
}

/* ---- no room ------------------------------------------------------------------------------------ */

static const char *calls_without_room_are_counted_as_such(void)
{
    enter(0, 0x1000);
    leave(0, 0x1000);
    sxs_calls_file_forget(); /* no more chunks, for good */
    sxs_calls_state->arena.next = sxs_calls_state->arena.end;
    enter(1, 0x1000);
    SO(depth() == 1 && sxs_calls_state->record->nodes_lost == 1);
    enter(0, 0xf00);
    leave(0, 0xf00);
    leave(1, 0x1000);
    atomic_store(&called[2].off, 1); /* timed no longer, and without a place to be counted at */
    enter(2, 0x1000);
    atomic_store(&called[2].off, 0);
    SO(depth() == 0 && sxs_calls_state->record->unmatched == 0);
    SO(sxs_calls_state->record->nodes_lost == 2);
    return NULL;
}

static void no_room(void **state)
{
    (void)state;
    mode_now = SXS_CALLS_TREE;
    on_thread(calls_without_room_are_counted_as_such);
}

/* ---- read back --------------------------------------------------------------------------------- */

static const char *three_calls(void)
{
    mode_now = SXS_CALLS_TREE;
    enter(5, 0x1000);
    enter(6, 0xf00);
    leave(6, 0xf00);
    enter(6, 0xf00);
    sxs_calls_unwound(0xf40);
    leave(5, 0x1000);
    enter(5, 0x1000); /* and never leaves */
    return NULL;
}

static uint64_t durations_of(const struct sxs_calls_read_function *fn)
{
    uint64_t n = 0;
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_BUCKETS; i++)
        n += fn->buckets[i];
    return n;
}

static void the_file_says_so(void **state)
{
    struct sxs_calls *c;
    (void)state;
    on_thread(three_calls);
    c = read_file();
    for (size_t i = 0; i < c->n_fns; i++) {
        const struct sxs_calls_read_function *fn = &c->fns[i];
        if (strcmp(fn->name, "f") == 0) {
            assert_int_equal(fn->calls, 2);
            assert_int_equal(durations_of(fn), 1); /* the thread's last: it waited to be counted */
            assert_true(fn->buckets && fn->min_ns && fn->min_ns <= fn->max_ns);
        } else if (strcmp(fn->name, "g") == 0) {
            assert_int_equal(fn->calls, 2);
            assert_int_equal(fn->unwound, 1);
            assert_int_equal(durations_of(fn), 1);
        }
    }
    assert_int_equal(c->n_fns, N_FUNCTIONS);
    assert_true(c->n_threads > 10);
    for (size_t i = 0; i < c->n_threads; i++)
        assert_true(c->threads[i].ended && c->threads[i].tid);
    sxs_calls_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_register_is_kept),
        cmocka_unit_test(without_avx_too),
        cmocka_unit_test(shadow_stacks),
        cmocka_unit_test(traced_calls),
        cmocka_unit_test(exceptions),
        cmocka_unit_test(the_file_says_so),
        cmocka_unit_test(no_room), /* the last */
    };
    hooks = sxs_elt_hooks();
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
