/* SPDX-License-Identifier: MIT */
/*
 * test_clrie_graph_fuzz.c - random changes of instruction graphs through the interfaces, against a model of
 * plain arrays. usage: test_clrie_graph_fuzz [OPERATIONS [SEED]]
 *
 * An episode has two graphs of methods and one that was decoded from bytes, and instructions of the factory.
 * Half of the episodes are quiet: they change one graph so that most results are valid code.
 * After each operation the result is what the model says. Now and then the graphs are compared with the
 * model, checked, written, read again and compared with what was read.
 */
#include "tests/unit/clrie_graph_fixture.h"

#include <stdlib.h>

#include "tests/instr/graph.h"
#include "tests/unit/clrie_graph_model.h"

/* ---- operations ------------------------------------------------------------------------------- */

static int any(void)
{
    if (w.quiet && w.n_list[0])
        return w.list[0][roll((unsigned)w.n_list[0])];
    return (int)roll((unsigned)w.n);
}

static int any_at_all(void)
{
    return (int)roll((unsigned)w.n);
}

static int make_insn(void)
{
    static const unsigned plain[] = {SXS_IL_NOP, SXS_IL_NOP, SXS_IL_NOP, SXS_IL_BREAK, SXS_IL_RET, SXS_IL_LDARG_0,
                                     SXS_IL_POP};
    IInstructionFactory  *factory = w.f[roll(2)].factory;
    IInstruction         *targets[MAX_TARGETS];
    struct insn          *i = &w.insns[w.n];
    int                   id = w.n;
    if (w.n == MAX_INSNS)
        return NONE;
    *i = (struct insn){.held = 1, .graph = NONE, .generation = Generation_New};
    switch (w.quiet ? 1 + 3 * roll(2) : roll(8)) {
    case 0:
        i->opcode = SXS_IL_LDC_I4;
        i->operand = (int32_t)roll(1000);
        MUST(CALL(factory, CreateIntOperandInstruction, SXS_IL_LDC_I4, (INT32)i->operand, &i->face) == S_OK);
        break;
    case 1:
    case 2:
        i->opcode = roll(2) ? SXS_IL_BR : SXS_IL_BR_S;
        i->n_targets = 1;
        i->targets[0] = w.quiet || roll(8) ? any() : NONE;
        MUST(CALL(factory, CreateBranchInstruction, (ILOrdinalOpcode)i->opcode,
                  i->targets[0] == NONE ? NULL : face_of(i->targets[0]), &i->face) == S_OK);
        break;
    case 3:
        i->opcode = SXS_IL_SWITCH;
        i->n_targets = (int)roll(MAX_TARGETS + 1);
        for (int t = 0; t < i->n_targets; t++) {
            i->targets[t] = any();
            targets[t] = face_of(i->targets[t]);
        }
        MUST(CALL(factory, CreateSwitchInstruction, SXS_IL_SWITCH, (DWORD)i->n_targets, targets, &i->face) == S_OK);
        break;
    default:
        i->opcode = plain[roll(w.quiet ? 4 : sizeof(plain) / sizeof(plain[0]))];
        MUST(CALL(factory, CreateInstruction, (ILOrdinalOpcode)i->opcode, &i->face) == S_OK);
    }
    w.n++;
    return id;
}

/* Mostly one that can be inserted. */
static int any_free(void)
{
    for (int k = 0; k < 4; k++) {
        int id = any_at_all();
        if (w.insns[id].graph == NONE && !(w.quiet && w.insns[id].opcode == SXS_IL_RET))
            return id;
    }
    return w.quiet || roll(8) ? make_insn() : any();
}

static int any_in(int g)
{
    return w.n_list[g] && roll(16) ? w.list[g][roll((unsigned)w.n_list[g])] : any();
}

static void insert(int g, unsigned how)
{
    int     at = any_in(g), id = any_free();
    int     ok, place;
    HRESULT hr, expected;
    if (id == NONE || (w.quiet && (how == 1 || how == 3) && w.insns[at].opcode == SXS_IL_RET))
        return; /* a quiet graph keeps its end */
    ok = w.insns[at].graph == g && w.insns[at].listed && w.insns[id].graph == NONE;
    expected = ok ? S_OK : E_UNEXPECTED;
    switch (how) {
    case 0: hr = CALL(w.graph[g], InsertBefore, face_of(at), face_of(id)); break;
    case 1: hr = CALL(w.graph[g], InsertAfter, face_of(at), face_of(id)); break;
    case 2: hr = CALL(w.graph[g], InsertBeforeAndRetargetOffsets, face_of(at), face_of(id)); break;
    default: hr = CALL(w.graph[g], Replace, face_of(at), face_of(id)); break;
    }
    MUST(hr == expected);
    if (!ok)
        return;
    place = position(g, at) + (how == 1);
    model_insert(g, place, id);
    if (how == 3)
        model_unlist(g, at, 1);
    if (how >= 2) {
        model_retarget(at, id);
        model_clauses(g, at, id);
    }
}

static void remove_one(int g)
{
    int     id = any_in(g), at = position(g, id), ok = w.insns[id].graph == g;
    HRESULT hr;
    if (w.quiet && w.insns[id].opcode == SXS_IL_RET)
        return;
    hr = CALL(w.graph[g], Remove, face_of(id));
    if (!ok) {
        MUST(hr == E_UNEXPECTED);
    } else if (!w.insns[id].listed) {
        MUST(hr == S_OK);
        w.insns[id].graph = NONE;
        w.insns[id].removed = 1;
    } else {
        MUST(hr == (g < 2 && w.n_list[g] == 1 ? E_FAIL : S_OK));
        model_unlist(g, id, 1);
        if (w.n_list[g])
            model_clauses(g, id, w.list[g][at < w.n_list[g] ? at : at - 1]);
    }
}

static void drop_clauses(int g)
{
    for (; g < 2 && w.n_clauses[g]; w.n_clauses[g]--)
        MUST(CALL(w.clauses[g][w.n_clauses[g] - 1].face, AddRef) == 0);
}

static void remove_all(int g)
{
    see_all(g);
    MUST(CALL(w.graph[g], RemoveAll) == S_OK);
    while (w.n_list[g])
        model_unlist(g, w.list[g][0], 1);
    drop_clauses(g);
}

static void begin_list(int g)
{
    int id = any_free();
    if (id == NONE)
        return;
    if (w.insns[id].graph != NONE) {
        MUST(CALL(w.graph[g], InsertAfter, NULL, face_of(id)) == E_UNEXPECTED);
        return;
    }
    see_all(g);
    MUST(CALL(w.graph[g], InsertAfter, NULL, face_of(id)) == S_OK);
    while (w.n_list[g])
        model_unlist(g, w.list[g][0], 0);
    model_insert(g, 0, id);
}

static void set_target(void)
{
    int                 id = any(), to = any();
    struct insn        *i = &w.insns[id];
    IBranchInstruction *b;
    ISwitchInstruction *s;
    int                 t;
    if (!i->n_targets)
        return;
    t = (int)roll((unsigned)i->n_targets);
    if (i->opcode != SXS_IL_SWITCH) {
        b = fixture_query(face_of(id), &IID_IBranchInstruction);
        MUST(CALL(b, SetBranchTarget, face_of(to)) == S_OK);
        i->targets[0] = to;
        return;
    }
    s = fixture_query(face_of(id), &IID_ISwitchInstruction);
    switch (roll(4)) {
    case 0:
        MUST(CALL(s, RemoveBranchTargetAt, (DWORD)t) == S_OK);
        memmove(&i->targets[t], &i->targets[t + 1], (size_t)(i->n_targets - t - 1) * sizeof(int));
        i->n_targets--;
        break;
    case 1:
        if (i->targets[t] == NONE)
            break;
        MUST(CALL(s, ReplaceBranchTarget, face_of(i->targets[t]), face_of(to)) == S_OK);
        for (int k = 0, from = i->targets[t]; k < i->n_targets; k++)
            if (i->targets[k] == from)
                i->targets[k] = to;
        break;
    case 2:
        MUST(CALL(s, RemoveBranchTarget, face_of(to)) == S_OK);
        for (int k = 0; k < i->n_targets;)
            if (i->targets[k] == to) {
                memmove(&i->targets[k], &i->targets[k + 1], (size_t)(i->n_targets - k - 1) * sizeof(int));
                i->n_targets--;
            } else {
                k++;
            }
        break;
    default:
        to = roll(4) ? to : NONE;
        MUST(CALL(s, SetBranchTarget, (DWORD)t, to == NONE ? NULL : face_of(to)) == S_OK);
        i->targets[t] = to;
    }
}

static void set_operand(void)
{
    int                  id = any();
    struct insn         *i = &w.insns[id];
    IOperandInstruction *o;
    int32_t              value = (int32_t)roll(1000000);
    if (i->opcode != SXS_IL_LDC_I4)
        return;
    o = fixture_query(face_of(id), &IID_IOperandInstruction);
    MUST(CALL(o, SetOperandValue, 4, (BYTE *)&value) == S_OK);
    i->operand = value;
}

static void expand(void)
{
    int                 id = any(), g = (int)roll(N_GRAPHS);
    IBranchInstruction *b;
    if (roll(8) == 0) {
        MUST(CALL(w.graph[g], ExpandBranches) == S_OK);
        for (int p = 0; p < w.n_list[g]; p++)
            if (w.insns[w.list[g][p]].opcode == SXS_IL_BR_S)
                w.insns[w.list[g][p]].opcode = SXS_IL_BR;
    } else if (w.insns[id].opcode == SXS_IL_BR_S) {
        b = fixture_query(face_of(id), &IID_IBranchInstruction);
        MUST(CALL(b, ExpandBranch) == S_OK);
        w.insns[id].opcode = SXS_IL_BR;
    }
}

/* The graph, or a branch to an instruction that is none itself, holds it from here on. */
static void drop_reference(void)
{
    struct insn *i = &w.insns[any()];
    if (i->held && i->graph != NONE) {
        RELEASE(i->face);
        i->held = 0;
    }
}

static IExceptionSection *section_of(int g)
{
    return clrie_face((struct clrie_object *)clrie_graph_section(w.view[g]), 0);
}

static void change_clauses(int g)
{
    int            n = w.n_clauses[g], c = n ? (int)roll((unsigned)n) : 0, p = (int)roll(CLRIE_N_PARTS), id = any();
    struct clause *clause = &w.clauses[g][c];
    if (n == MAX_CLAUSES || (n && roll(3) == 0)) {
        MUST(CALL(section_of(g), RemoveExceptionClause, clause->face) == S_OK);
        MUST(CALL(clause->face, AddRef) == 0);
        memmove(clause, clause + 1, (size_t)(n - c - 1) * sizeof(*clause));
        w.n_clauses[g]--;
    } else if (n && roll(2)) {
        HRESULT hr = 1;
        switch (p) {
        case CLRIE_TRY_FIRST: hr = CALL(clause->face, SetTryFirstInstruction, face_of(id)); break;
        case CLRIE_TRY_LAST: hr = CALL(clause->face, SetTryLastInstruction, face_of(id)); break;
        case CLRIE_HANDLER_FIRST: hr = CALL(clause->face, SetHandlerFirstInstruction, face_of(id)); break;
        case CLRIE_HANDLER_LAST: hr = CALL(clause->face, SetHandlerLastInstruction, face_of(id)); break;
        default: hr = CALL(clause->face, SetFilterFirstInstruction, face_of(id)); break;
        }
        MUST(hr == S_OK);
        clause->parts[p] = id;
    } else {
        struct clause fresh;
        ULONG         at = 0, fetched;
        for (int k = 0; k < CLRIE_N_PARTS; k++)
            fresh.parts[k] = any_in(g);
        MUST(CALL(section_of(g), AddNewExceptionClause, roll(3), face_of(fresh.parts[0]), face_of(fresh.parts[1]),
                  face_of(fresh.parts[2]), face_of(fresh.parts[3]), face_of(fresh.parts[4]), 0x01000001,
                  &fresh.face) == S_OK);
        { /* where it was inserted is tested elsewhere */
            IEnumExceptionClauses *list;
            IExceptionClause      *all[MAX_CLAUSES + 1];
            MUST(CALL(section_of(g), GetExceptionClauses, &list) == S_OK);
            MUST(CALL(list, Next, (ULONG)n + 1, all, &fetched) == S_OK && fetched == (ULONG)n + 1);
            for (ULONG k = 0; k < fetched; k++) {
                at = all[k] == fresh.face ? k : at;
                RELEASE(all[k]);
            }
            MUST(all[at] == fresh.face);
            RELEASE(list);
        }
        RELEASE(fresh.face);
        memmove(&w.clauses[g][at + 1], &w.clauses[g][at], ((size_t)n - at) * sizeof(fresh));
        w.clauses[g][at] = fresh;
        w.n_clauses[g]++;
    }
}

/* ---- comparing -------------------------------------------------------------------------------- */

static void compare_insn(int id)
{
    struct insn          *i = &w.insns[id];
    IInstruction         *face = face_of(id), *to;
    ILOrdinalOpcode       opcode;
    InstructionGeneration generation;
    DWORD                 value, count;
    BOOL                  removed;
    MUST(CALL(face, GetOpCode, &opcode) == S_OK && (unsigned)opcode == i->opcode);
    MUST(CALL(face, GetIsRemoved, &removed) == S_OK && removed == i->removed);
    MUST(CALL(face, GetOriginalOffset, &value) == S_OK && value == i->original);
    MUST(CALL(face, GetInstructionGeneration, &generation) == S_OK && (int)generation == i->generation);
    if (i->opcode == SXS_IL_LDC_I4) {
        IOperandInstruction *o = fixture_query(face, &IID_IOperandInstruction);
        int32_t              operand;
        MUST(CALL(o, GetOperandValue, 4, (BYTE *)&operand) == S_OK && operand == i->operand);
    } else if (i->opcode == SXS_IL_SWITCH) {
        ISwitchInstruction *s = fixture_query(face, &IID_ISwitchInstruction);
        MUST(CALL(s, GetBranchCount, &count) == S_OK && (int)count == i->n_targets);
        for (int t = 0; t < i->n_targets; t++) {
            MUST(CALL(s, GetBranchTarget, (DWORD)t, &to) == S_OK);
            MUST(to == (i->targets[t] == NONE ? NULL : face_of(i->targets[t])));
            if (to)
                RELEASE(to);
        }
    } else if (i->n_targets) {
        to = fixture_target(face);
        MUST(to == (i->targets[0] == NONE ? NULL : face_of(i->targets[0])));
    }
}

static void compare_clauses(int g)
{
    for (int c = 0; c < w.n_clauses[g]; c++) {
        IInstruction     *parts[CLRIE_N_PARTS];
        IExceptionClause *clause = w.clauses[g][c].face;
        MUST(CALL(clause, GetTryFirstInstruction, &parts[0]) == S_OK);
        MUST(CALL(clause, GetTryLastInstruction, &parts[1]) == S_OK);
        MUST(CALL(clause, GetHandlerFirstInstruction, &parts[2]) == S_OK);
        MUST(CALL(clause, GetHandlerLastInstruction, &parts[3]) == S_OK);
        MUST(CALL(clause, GetFilterFirstInstruction, &parts[4]) == S_OK);
        for (int p = 0; p < CLRIE_N_PARTS; p++) {
            MUST(parts[p] == face_of(w.clauses[g][c].parts[p]));
            RELEASE(parts[p]);
        }
    }
}

static void compare_graph(int g)
{
    IInstruction *at = NULL, *next, *prev = NULL;
    DWORD         offset, expected = 0;
    MUST(CALL(w.graph[g], GetFirstInstruction, &at) == S_OK);
    for (int p = 0; p < w.n_list[g]; p++) {
        int id = w.list[g][p];
        MUST(at && at == face_of(id));
        compare_insn(id);
        MUST(CALL(at, GetPreviousInstruction, &next) == (p ? S_OK : E_FAIL) && next == prev);
        if (next)
            RELEASE(next);
        MUST(CALL(at, GetOffset, &offset) == S_OK && offset == expected);
        expected += sxs_il_length(((struct clrie_instruction *)((const void **)at - 0 -
                                                               offsetof(struct clrie_instruction, face) / sizeof(void *)))
                                      ->insn);
        prev = at;
        CALL(at, GetNextInstruction, &next);
        RELEASE(at);
        at = next;
    }
    MUST(!at);
    MUST(CALL(w.graph[g], GetLastInstruction, &at) == S_OK && at == prev);
    if (at)
        RELEASE(at);
}

/* What the checker accepts is written, and read again it is the same and accepted again. */
static void render(int g)
{
    char                 why[200];
    struct sxs_il_method method = fixture_method(0);
    struct clrie_written written;
    struct sxs_il_error  error;
    int                  rows = 0;
    if (clrie_graph_check(w.view[g], why, sizeof(why)) != S_OK) {
        w.refused++;
        MUST(why[0]);
        return;
    }
    w.accepted++;
    MUST(clrie_graph_write(w.view[g], &written) == S_OK);
    MUST(sxs_il_read(w.again, written.bytes, written.size, &error) == 0);
    MUST(sxs_il_check(w.again, &method, &error) == 0);
    MUST(same_graph(w.view[g]->body, w.again));
    for (int p = 0; p < w.n_list[g]; p++)
        rows += w.insns[w.list[g][p]].generation != Generation_New;
    MUST((int)written.n_map == rows);
}

static void one_operation(void)
{
    int g = w.quiet ? 0 : (int)roll(N_GRAPHS);
    w.operations++;
    switch (roll(w.quiet ? 19 : 24)) {
    case 0:
    case 1:
    case 2: insert(g, 0); break;
    case 3:
    case 4:
    case 5: insert(g, 1); break;
    case 6:
    case 7:
    case 8: insert(g, 2); break;
    case 9:
    case 10: insert(g, 3); break;
    case 11:
    case 12:
    case 13: remove_one(g); break;
    case 14: make_insn(); break;
    case 15: set_target(); break;
    case 16: set_operand(); break;
    case 17: expand(); break;
    case 18: drop_reference(); break;
    case 19:
        if (roll(8) == 0 && g < 2)
            change_clauses(g);
        break;
    case 20:
        if (roll(40) == 0)
            remove_all(g);
        break;
    case 21:
        if (roll(40) == 0)
            begin_list(g);
        break;
    case 22: render((int)roll(2)); break;
    default: compare_insn(any()); break;
    }
}

static unsigned long wanted = 200000;

static void graphs_do_what_the_model_does(void **state)
{
    (void)state;
    w.again = sxs_il_new();
    while (w.operations < wanted) {
        unsigned n = 1 + roll(400);
        begin();
        for (unsigned k = 0; k < n; k++) {
            one_operation();
            if (w.quiet && roll(16) == 0)
                render(0);
        }
        for (int g = 0; g < N_GRAPHS; g++)
            compare_graph(g);
        for (int g = 0; g < 2; g++) {
            compare_clauses(g);
            render(g);
        }
        for (int i = 0; i < w.n; i++)
            compare_insn(i);
        end();
        MUST(fixture_info_refs == 1);
    }
    sxs_il_free(w.again);
    printf("%lu operations; %lu graphs accepted by the checker, %lu refused\n", w.operations, w.accepted, w.refused);
    assert_true(w.accepted > wanted / 200);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_do_what_the_model_does)};
    w.dice = 88172645463325252u;
    if (argc > 1)
        wanted = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        w.dice ^= strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
