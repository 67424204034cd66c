/* SPDX-License-Identifier: MIT */
/* Exception clauses, baselines, maps, single returns and the stack of instruction graphs. */
#include "tests/unit/clrie_graph_fixture.h"

#define CAUGHT "A: nop\n leave END\n B: pop\n leave END\n END: ret\n .try A to B catch X handler B to END"

static IExceptionSection *section_of(struct fixture *f)
{
    return clrie_face((struct clrie_object *)clrie_graph_section(f->view), 0);
}

/* Clause @n, without a reference. */
static IExceptionClause *clause_at(struct fixture *f, unsigned n)
{
    IEnumExceptionClauses *list;
    IExceptionClause      *clause = NULL;
    ULONG                  fetched;
    OK(CALL(section_of(f), GetExceptionClauses, &list));
    OK(CALL(list, Skip, 0));
    for (unsigned i = 0; i <= n; i++) {
        OK(CALL(list, Next, 1, &clause, &fetched));
        RELEASE(clause);
    }
    RELEASE(list);
    return clause;
}

static DWORD count_clauses(struct fixture *f)
{
    IEnumExceptionClauses *list;
    DWORD                  n = 99;
    OK(CALL(section_of(f), GetExceptionClauses, &list));
    OK(CALL(list, GetCount, &n));
    RELEASE(list);
    return n;
}

static void expect_parts(IExceptionClause *clause, IInstruction *a, IInstruction *b, IInstruction *c,
                         IInstruction *d, IInstruction *e)
{
    IInstruction *parts[5], *expected[5] = {a, b, c, d, e};
    OK(CALL(clause, GetTryFirstInstruction, &parts[0]));
    OK(CALL(clause, GetTryLastInstruction, &parts[1]));
    OK(CALL(clause, GetHandlerFirstInstruction, &parts[2]));
    OK(CALL(clause, GetHandlerLastInstruction, &parts[3]));
    OK(CALL(clause, GetFilterFirstInstruction, &parts[4]));
    for (unsigned p = 0; p < 5; p++) {
        assert_ptr_equal(parts[p], expected[p]);
        if (parts[p])
            RELEASE(parts[p]);
    }
}

static void a_clause_of_a_replaced_instruction_covers_its_replacement(void **state)
{
    struct fixture    f;
    IInstruction     *kept, *fresh[5];
    IExceptionClause *out = NULL;
    (void)state;
    fixture_begin(&f, "ret", 0);
    kept = fixture_at(&f, 0);
    fresh[0] = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, Replace, kept, fresh[0]));
    fresh[4] = fixture_new(&f, Cee_Ret);
    OK(CALL(f.graph, InsertAfter, fresh[0], fresh[4]));
    fresh[1] = fixture_branch(&f, Cee_Leave, fresh[4]);
    OK(CALL(f.graph, InsertAfter, fresh[0], fresh[1]));
    fresh[2] = fixture_new(&f, Cee_Pop);
    OK(CALL(f.graph, InsertAfter, fresh[1], fresh[2]));
    fresh[3] = fixture_branch(&f, Cee_Leave, fresh[4]);
    OK(CALL(f.graph, InsertAfter, fresh[2], fresh[3]));
    OK(CALL(section_of(&f), AddNewExceptionClause, 0, kept, fresh[1], fresh[2], fresh[3], NULL,
            0x01000001, &out));
    assert_null(fixture_refused(&f, NULL));
    assert_ptr_equal(f.view->body->clauses[0].try_first, f.view->body->first);
    for (int i = 0; i < 5; i++)
        RELEASE(fresh[i]);
    if (out)
        RELEASE(out);
    fixture_end(&f);
}

static void clauses_are_read_and_written(void **state)
{
    struct fixture       f;
    IExceptionClause    *clause;
    IMethodInfo         *info;
    DWORD                flags = 9;
    mdToken              token = 0;
    struct clrie_written written;
    (void)state;
    fixture_begin(&f, CAUGHT, 0);
    assert_int_equal(count_clauses(&f), 1);
    clause = clause_at(&f, 0);
    expect_parts(clause, fixture_at(&f, 0), fixture_at(&f, 1), fixture_at(&f, 2), fixture_at(&f, 3), NULL);
    OK(CALL(clause, GetFlags, &flags));
    assert_int_equal(flags, 0);
    OK(CALL(clause, GetExceptionHandlerType, &token));
    assert_int_equal(token, 0x01000001);
    OK(CALL(section_of(&f), GetMethodInfo, &info));
    assert_ptr_equal(info, &fixture_info);
    RELEASE(info);
    written = fixture_written(&f);
    /* A fat header with InitLocals and more sections; one fat section, padded to 4. */
    assert_int_equal(written.bytes[0] & 0x1f, 0x1b);
    assert_int_equal(written.size, 12 + 13 + 3 + 4 + 24);
    assert_int_equal(written.bytes[12 + 13 + 3], 0x41);
    OK(CALL(clause, SetFlags, 8));
    assert_string_equal(fixture_refused(&f, NULL), "no such kind of clause: 8");
    OK(CALL(clause, SetFlags, 0));
    OK(CALL(clause, SetExceptionHandlerType, 0x02000007));
    OK(CALL(clause, SetHandlerLastInstruction, NULL));
    assert_string_equal(fixture_refused(&f, NULL), "a clause names an instruction that is not in the code");
    OK(CALL(clause, SetHandlerLastInstruction, fixture_at(&f, 3)));
    written = fixture_written(&f);
    assert_int_equal(written.bytes[12 + 13 + 3 + 4 + 20], 0x07);
    assert_int_equal(written.bytes[12 + 13 + 3 + 4 + 23], 0x02);
    fixture_end(&f);
}

static void clauses_follow_the_edits(void **state)
{
    struct fixture    f;
    IExceptionClause *clause;
    IInstruction     *first, *last, *fresh;
    (void)state;
    fixture_begin(&f, CAUGHT, 0);
    first = fixture_at(&f, 0);
    last = fixture_at(&f, 1);
    fresh = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, InsertBeforeAndRetargetOffsets, first, fresh)); /* clauses not seen before */
    clause = clause_at(&f, 0);
    expect_parts(clause, fresh, last, fixture_at(&f, 3), fixture_at(&f, 4), NULL);
    RELEASE(fresh);
    fresh = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, InsertBeforeAndRetargetOffsets, last, fresh)); /* the end stays */
    RELEASE(fresh);
    expect_parts(clause, fixture_at(&f, 0), last, fixture_at(&f, 4), fixture_at(&f, 5), NULL);
    fresh = fixture_branch(&f, Cee_Leave, fixture_at(&f, 6));
    OK(CALL(f.graph, Replace, last, fresh));
    expect_parts(clause, fixture_at(&f, 0), fresh, fixture_at(&f, 4), fixture_at(&f, 5), NULL);
    OK(CALL(f.graph, Remove, fixture_at(&f, 0)));
    expect_parts(clause, fixture_at(&f, 0), fresh, fixture_at(&f, 3), fixture_at(&f, 4), NULL);
    assert_null(fixture_refused(&f, NULL));
    OK(CALL(f.graph, Remove, fresh)); /* the end becomes the next one, as in CLRIE */
    expect_parts(clause, fixture_at(&f, 0), fixture_at(&f, 2), fixture_at(&f, 2), fixture_at(&f, 3), NULL);
    assert_non_null(fixture_refused(&f, NULL));
    RELEASE(fresh);
    OK(CALL(f.graph, RemoveAll));
    assert_int_equal(count_clauses(&f), 0);
    fixture_end(&f);
}

static IExceptionClause *add(struct fixture *f, unsigned a, unsigned b, unsigned c, unsigned d)
{
    IExceptionClause *clause;
    OK(CALL(section_of(f), AddNewExceptionClause, 0, fixture_at(f, a), fixture_at(f, b), fixture_at(f, c),
            fixture_at(f, d), NULL, 0x01000002, &clause));
    RELEASE(clause);
    return clause;
}

static void new_clauses_come_behind_the_inner_ones(void **state)
{
    struct fixture    f;
    IExceptionClause *inner, *outer, *middle, *first, *out = (void *)1;
    const void       *foreign[2] = {&fixture_info_vtbl, NULL};
    IInstruction     *i;
    (void)state;
    fixture_begin(&f, "nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n ret", 0);
    i = fixture_at(&f, 0);
    inner = add(&f, 2, 3, 4, 4);
    outer = add(&f, 1, 5, 6, 6);
    middle = add(&f, 2, 4, 5, 5);  /* contains the inner one: after it */
    first = add(&f, 0, 0, 7, 7);   /* contains none */
    assert_ptr_equal(clause_at(&f, 0), first);
    assert_ptr_equal(clause_at(&f, 1), inner);
    assert_ptr_equal(clause_at(&f, 2), middle);
    assert_ptr_equal(clause_at(&f, 3), outer);
#define ADD_NEW(a, b, c) CALL(section_of(&f), AddNewExceptionClause, 0, (a), (b), (c), i, NULL, 0, &out)
    assert_int_equal(ADD_NEW(NULL, i, i), E_POINTER);
    assert_null(out);
    assert_int_equal(ADD_NEW(i, i, (IInstruction *)foreign), E_INVALIDARG);
    CALL(inner, AddRef);
    OK(CALL(section_of(&f), RemoveExceptionClause, inner));
    OK(CALL(section_of(&f), RemoveExceptionClause, inner)); /* absent: S_OK */
    OK(CALL(section_of(&f), RemoveExceptionClause, NULL));
    assert_int_equal(count_clauses(&f), 3);
    OK(CALL(section_of(&f), AddExceptionClause, inner));
    RELEASE(inner);
    assert_ptr_equal(clause_at(&f, 3), inner);
    assert_int_equal(CALL(section_of(&f), AddExceptionClause, NULL), E_POINTER);
    assert_int_equal(CALL(section_of(&f), AddExceptionClause, (IExceptionClause *)i), E_INVALIDARG);
    OK(CALL(section_of(&f), RemoveAllExceptionClauses));
    OK(ADD_NEW(NULL, NULL, i)); /* no other clause to compare with */
    RELEASE(out);
    assert_string_equal(fixture_refused(&f, NULL), "a clause names an instruction that is not in the code");
    fixture_end(&f);
}

static void a_filter_is_the_first_of_its_instructions(void **state)
{
    struct fixture       f;
    IExceptionClause    *clause;
    struct clrie_written written;
    (void)state;
    fixture_begin(&f, "A: nop\n leave END\n F: pop\n ldc.i4 1\n endfilter\n H: pop\n leave END\n END: ret\n "
                      ".try A to F filter F handler H to END",
                  0);
    expect_parts(clause_at(&f, 0), fixture_at(&f, 0), fixture_at(&f, 1), fixture_at(&f, 5), fixture_at(&f, 6),
                 fixture_at(&f, 2));
    OK(CALL(section_of(&f), RemoveAllExceptionClauses));
    OK(CALL(section_of(&f), AddNewExceptionClause, 1, fixture_at(&f, 0), fixture_at(&f, 1), fixture_at(&f, 5),
            fixture_at(&f, 6), fixture_at(&f, 2), 0, &clause));
    expect_parts(clause, fixture_at(&f, 0), fixture_at(&f, 1), fixture_at(&f, 5), fixture_at(&f, 6),
                 fixture_at(&f, 2));
    written = fixture_written(&f);
    assert_int_equal(written.bytes[written.size - 4], 6); /* the filter's offset */
    OK(CALL(clause, SetFilterFirstInstruction, fixture_at(&f, 3)));
    assert_non_null(fixture_refused(&f, NULL));
    RELEASE(clause);
    fixture_end(&f);
}

static void the_engine_changes_the_body_between_plug_ins(void **state)
{
    struct fixture        f;
    struct sxs_il_body   *body;
    struct sxs_il_clause *c;
    IExceptionClause     *held;
    (void)state;
    fixture_begin(&f, CAUGHT, 0);
    held = clause_at(&f, 0);
    CALL(held, AddRef);
    OK(CALL(held, SetExceptionHandlerType, 0x01000009));
    body = clrie_graph_body(f.view);
    assert_int_equal(body->n_clauses, 1);
    assert_int_equal(body->clauses[0].token, 0x01000009);
    sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_BREAK));
    c = sxs_il_add_clause(body, 1);
    *c = body->clauses[0];
    assert_int_equal(count_clauses(&f), 2);
    assert_ptr_not_equal(clause_at(&f, 0), held);
    expect_parts(clause_at(&f, 1), fixture_at(&f, 1), fixture_at(&f, 2), fixture_at(&f, 3), fixture_at(&f, 4),
                 NULL);
    RELEASE(held);
    fixture_end(&f);
}

/* ---- baselines and maps ----------------------------------------------------------------------- */

static void expect_map(struct fixture *f, const uint32_t (*rows)[2], uint32_t n)
{
    struct clrie_written written;
    written = fixture_written(f);
    assert_int_equal(written.n_map, n);
    for (uint32_t r = 0; r < n; r++) {
        assert_int_equal(written.map[r].oldOffset, rows[r][0]);
        assert_int_equal(written.map[r].newOffset, rows[r][1]);
        assert_int_equal(written.map[r].fAccurate, 1);
    }
}

static void old_instructions_map_to_the_new_ones_before_them(void **state)
{
    struct fixture        f;
    IInstruction         *i;
    (void)state;
    fixture_begin(&f, "nop\n nop\n nop\n ret", 0);
    for (int n = 0; n < 2; n++) {
        i = fixture_new(&f, Cee_Nop);
        OK(n ? CALL(f.graph, InsertAfter, fixture_at(&f, 0), i)
             : CALL(f.graph, InsertBefore, fixture_at(&f, 1), i));
        RELEASE(i);
    }
    {
        static const uint32_t expected[][2] = {{0, 0}, {1, 1}, {2, 4}, {3, 5}};
        expect_map(&f, expected, 4);
    }
    OK(CALL(f.graph, Remove, fixture_at(&f, 3))); /* removed: no row; the run of new ones goes on */
    {
        static const uint32_t expected[][2] = {{0, 0}, {2, 1}, {3, 4}};
        expect_map(&f, expected, 3);
    }
    fixture_end(&f);
}

static const uint8_t baseline[] = {0x00, 0x00, 0x02, 0x26, 0x2b, 0x00, 0x2a}; /* nop nop ldarg.0 pop br.s ret */

static HRESULT set_baseline(struct fixture *f, uint32_t n_map, COR_IL_MAP *map, uint32_t n, DWORD *points)
{
    return CALL(f->graph, CreateBaseline, baseline, baseline + sizeof(baseline), n_map, map, n, points);
}

static void a_baseline_takes_the_place_of_the_original(void **state)
{
    struct fixture        f;
    COR_IL_MAP            map[] = {{0, 1, 1}, {3, 2, 1}};
    DWORD                 points[] = {3, 1};
    IInstruction         *old, *i;
    InstructionGeneration generation;
    BOOL                  value;
    (void)state;
    fixture_begin(&f, CAUGHT, 0);
    old = fixture_at(&f, 0);
    assert_int_equal(set_baseline(&f, 0, NULL, 0, NULL), E_FAIL); /* not now */
    f.method.can_set_baseline = 1;
    assert_int_equal(CALL(f.graph, CreateBaseline, NULL, baseline, 0, NULL, 0, NULL), E_POINTER);
    assert_int_equal(CALL(f.graph, CreateBaseline, baseline, baseline, 0, NULL, 0, NULL), E_INVALIDARG);
    assert_int_equal(set_baseline(&f, 2, NULL, 0, NULL), E_POINTER);
    assert_int_equal(set_baseline(&f, 2, map, 2, NULL), E_POINTER);
    assert_int_equal(CALL(f.graph, CreateBaseline, baseline, baseline + 5, 0, NULL, 0, NULL), E_FAIL);
    OK(CALL(f.graph, HasBaselineBeenSet, &value));
    assert_false(value);
    assert_int_equal(count_clauses(&f), 1); /* a baseline that fails changes nothing */
    OK(set_baseline(&f, 2, map, 2, points));
    OK(CALL(f.graph, HasBaselineBeenSet, &value));
    assert_true(value);
    assert_int_equal(set_baseline(&f, 2, map, 2, points), E_UNEXPECTED);
    assert_int_equal(count_clauses(&f), 0);
    assert_string_equal(fixture_code(&f), "nop; nop; ldarg.0; pop; br.s       IL_0006; ret");
    OK(CALL(fixture_at(&f, 2), GetInstructionGeneration, &generation));
    assert_int_equal(generation, Generation_Baseline);
    OK(CALL(fixture_at(&f, 2), GetIsNew, &value));
    assert_false(value);
    OK(CALL(f.graph, GetUninstrumentedFirstInstruction, &i));
    assert_ptr_equal(i, old);
    OK(CALL(i, GetIsRemoved, &value));
    assert_true(value);
    OK(CALL(i, GetInstructionGeneration, &generation));
    assert_int_equal(generation, Generation_Original);
    RELEASE(i);
    OK(CALL(f.graph, GetUninstrumentedLastInstruction, &i));
    OK(CALL(i, GetOriginalPreviousInstruction, &old));
    RELEASE(old);
    RELEASE(i);
    OK(CALL(f.graph, GetOriginalFirstInstruction, &i));
    assert_ptr_equal(i, fixture_at(&f, 0));
    RELEASE(i);
    OK(CALL(f.graph, GetInstructionAtUninstrumentedOffset, 3, &i));
    assert_ptr_equal(i, fixture_at(&f, 2));
    RELEASE(i);
    assert_int_equal(CALL(f.graph, GetInstructionAtUninstrumentedOffset, 1, &i), E_FAIL);
    i = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, InsertBefore, fixture_at(&f, 1), i));
    RELEASE(i);
    {
        static const uint32_t expected[][2] = {{1, 1}, {3, 4}}; /* sequence points only */
        expect_map(&f, expected, 2);
    }
    OK(CALL(f.graph, GetUninstrumentedFirstInstruction, &i)); /* an old one comes back */
    OK(CALL(f.graph, InsertBefore, fixture_at(&f, 0), i));
    OK(CALL(i, GetInstructionGeneration, &generation));
    assert_int_equal(generation, Generation_Original);
    RELEASE(i);
    assert_null(fixture_refused(&f, NULL));
    fixture_end(&f);
}

static void a_baseline_without_points_maps_every_instruction(void **state)
{
    static const uint32_t expected[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 6}};
    struct fixture        f;
    (void)state;
    fixture_begin(&f, "ret", 0);
    f.method.can_set_baseline = 1;
    OK(set_baseline(&f, 0, NULL, 0, NULL));
    expect_map(&f, expected, 6);
    fixture_end(&f);
}

/* ---- single returns --------------------------------------------------------------------------- */

static int a_local(void *context, int *returns)
{
    *returns = *(int *)context >= 0;
    return *(int *)context;
}

static const char *single(const char *text, int returns, int local, IInstruction **exit, struct fixture *f)
{
    ISingleRetDefaultInstrumentation2 *s = clrie_face(
        (struct clrie_object *)clrie_single_return_new(a_local, &local), 0);
    fixture_begin(f, text, returns);
    assert_int_equal(CALL(s, ApplySingleRetDefaultInstrumentation), E_UNEXPECTED);
    assert_int_equal(CALL(s, Initialize, NULL), E_POINTER);
    OK(CALL(s, Initialize, f->graph));
    OK(CALL(s, ApplySingleRetDefaultInstrumentation));
    OK(CALL(s, GetBranchTargetInstruction, exit));
    if (*exit)
        RELEASE(*exit);
    RELEASE(s);
    assert_null(fixture_refused(f, NULL));
    return fixture_code(f);
}

static void several_returns_become_one(void **state)
{
    struct fixture f;
    IInstruction  *exit;
    (void)state;
    assert_string_equal(single("ldarg.0\n brtrue A\n ldarg.0\n ret\n A: ldarg.1\n ret", 1, 3, &exit, &f),
                        "ldarg.0; brtrue     IL_0010; ldarg.0; stloc      3; br         IL_001a; ldarg.1; "
                        "stloc      3; br         IL_001a; ldloc      3; ret");
    assert_ptr_equal(exit, fixture_at(&f, 8));
    fixture_end(&f);
    assert_string_equal(single("ldarg.0\n brtrue A\n ret\n A: ret", 0, -1, &exit, &f),
                        "ldarg.0; brtrue     IL_000b; br         IL_0010; br         IL_0010; ret");
    assert_ptr_equal(exit, fixture_at(&f, 4));
    fixture_end(&f);
    single("ldarg.0\n ret", 1, 3, &exit, &f); /* one return: nothing is changed */
    assert_null(exit);
    assert_string_equal(fixture_code(&f), "ldarg.0; ret");
    fixture_end(&f);
    single("ldarg.0\n brtrue A\n tail. call 0x0a000000\n ret\n A: ret", 0, -1, &exit, &f);
    assert_null(exit); /* the return of a tail call stays, and one is left */
    fixture_end(&f);
}

static void a_graph_without_a_method_has_no_single_return(void **state)
{
    static const uint8_t               code[] = {0x2a, 0x2a};
    struct fixture                     f;
    IInstructionGraph                 *decoded;
    ISingleRetDefaultInstrumentation2 *s = clrie_face((struct clrie_object *)clrie_single_return_new(NULL, NULL), 0);
    (void)state;
    fixture_begin(&f, "ret", 0);
    OK(CALL(f.factory, DecodeInstructionByteStream, 2, code, &decoded));
    OK(CALL(s, Initialize, decoded));
    assert_int_equal(CALL(s, ApplySingleRetDefaultInstrumentation), E_FAIL);
    assert_int_equal(CALL(s, Initialize, (IInstructionGraph *)f.factory), E_INVALIDARG);
    RELEASE(decoded);
    RELEASE(s);
    fixture_end(&f);
}

static void the_stack_is_computed(void **state)
{
    struct fixture f;
    IInstruction  *i;
    uint32_t       n;
    (void)state;
    fixture_begin(&f, "ldarg.0\n ldarg.1\n add\n pop\n ret", 0);
    OK(clrie_graph_max_stack(f.view, &n));
    assert_int_equal(n, 2);
    for (int k = 0; k < 2; k++) { /* in the end the checker refuses the graph, and there is an estimate */
        i = fixture_new(&f, Cee_Ldarg_0);
        OK(CALL(f.graph, InsertBefore, fixture_at(&f, 0), i));
        RELEASE(i);
        OK(clrie_graph_max_stack(f.view, &n));
        assert_int_equal(n, 3 + k);
    }
    OK(CALL(f.graph, RemoveAll));
    OK(clrie_graph_max_stack(f.view, &n));
    assert_int_equal(n, 0);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clause_of_a_replaced_instruction_covers_its_replacement),
        cmocka_unit_test(clauses_are_read_and_written),
        cmocka_unit_test(clauses_follow_the_edits),
        cmocka_unit_test(new_clauses_come_behind_the_inner_ones),
        cmocka_unit_test(a_filter_is_the_first_of_its_instructions),
        cmocka_unit_test(the_engine_changes_the_body_between_plug_ins),
        cmocka_unit_test(old_instructions_map_to_the_new_ones_before_them),
        cmocka_unit_test(a_baseline_takes_the_place_of_the_original),
        cmocka_unit_test(a_baseline_without_points_maps_every_instruction),
        cmocka_unit_test(several_returns_become_one),
        cmocka_unit_test(a_graph_without_a_method_has_no_single_return),
        cmocka_unit_test(the_stack_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
