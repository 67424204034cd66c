/* SPDX-License-Identifier: MIT */
/* Every slot of the interfaces of instruction graphs: with NULL and zero for all arguments, and on objects that
 * were released. */
#include "tests/unit/clrie_graph_fixture.h"

typedef HRESULT slot(void *self, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,
                     uintptr_t g, uintptr_t h);

struct row {
    const char *name;
    size_t      offset; /* in the vtable */
    HRESULT     zero;   /* result with zeros */
};

#define ROW(interface, name, zero) {#interface "." #name, offsetof(interface##Vtbl, name), (zero)}

static const struct row instruction[] = {
    ROW(IInstruction, GetOffset, E_POINTER),
    ROW(IInstruction, GetOriginalOffset, E_POINTER),
    ROW(IInstruction, GetOpCodeName, E_POINTER),
    ROW(IInstruction, GetOpCode, E_POINTER),
    ROW(IInstruction, GetAlternateOrdinalOpcode, E_POINTER),
    ROW(IInstruction, GetInstructionLength, E_POINTER),
    ROW(IInstruction, GetOpcodeFlags, E_POINTER),
    ROW(IInstruction, GetOpcodeLength, E_POINTER),
    ROW(IInstruction, GetOperandType, E_POINTER),
    ROW(IInstruction, GetOperandLength, E_POINTER),
    ROW(IInstruction, GetIsNew, E_POINTER),
    ROW(IInstruction, GetIsRemoved, E_POINTER),
    ROW(IInstruction, GetIsBranch, E_POINTER),
    ROW(IInstruction, GetIsSwitch, E_POINTER),
    ROW(IInstruction, GetIsCallInstruction, E_POINTER),
    ROW(IInstruction, GetTerminationType, E_POINTER),
    ROW(IInstruction, GetIsFallThrough, E_POINTER),
    ROW(IInstruction, GetNextInstruction, E_POINTER),
    ROW(IInstruction, GetPreviousInstruction, E_POINTER),
    ROW(IInstruction, GetOriginalNextInstruction, E_POINTER),
    ROW(IInstruction, GetOriginalPreviousInstruction, E_POINTER),
    ROW(IInstruction, GetInstructionGeneration, E_POINTER),
};

static const struct row operand[] = {
    ROW(IOperandInstruction, GetOperandType, E_POINTER),
    ROW(IOperandInstruction, GetOperandValue, E_POINTER),
    ROW(IOperandInstruction, SetOperandValue, E_POINTER),
};

static const struct row branch[] = {
    ROW(IBranchInstruction, IsShortBranch, E_POINTER),   ROW(IBranchInstruction, ExpandBranch, S_OK),
    ROW(IBranchInstruction, GetBranchTarget, E_POINTER), ROW(IBranchInstruction, GetTargetOffset, E_POINTER),
    ROW(IBranchInstruction, SetBranchTarget, E_POINTER),
};

static const struct row switches[] = {
    ROW(ISwitchInstruction, GetBranchTarget, E_POINTER),    ROW(ISwitchInstruction, SetBranchTarget, S_OK),
    ROW(ISwitchInstruction, RemoveBranchTargetAt, S_OK),    ROW(ISwitchInstruction, RemoveBranchTarget, E_POINTER),
    ROW(ISwitchInstruction, ReplaceBranchTarget, E_POINTER), ROW(ISwitchInstruction, GetBranchCount, E_POINTER),
    ROW(ISwitchInstruction, GetBranchOffset, E_POINTER),
};

static const struct row graph[] = {
    ROW(IInstructionGraph, GetMethodInfo, E_POINTER),
    ROW(IInstructionGraph, GetFirstInstruction, E_POINTER),
    ROW(IInstructionGraph, GetLastInstruction, E_POINTER),
    ROW(IInstructionGraph, GetOriginalFirstInstruction, E_POINTER),
    ROW(IInstructionGraph, GetOriginalLastInstruction, E_POINTER),
    ROW(IInstructionGraph, GetUninstrumentedFirstInstruction, E_POINTER),
    ROW(IInstructionGraph, GetUninstrumentedLastInstruction, E_POINTER),
    ROW(IInstructionGraph, GetInstructionAtOffset, E_POINTER),
    ROW(IInstructionGraph, GetInstructionAtOriginalOffset, E_POINTER),
    ROW(IInstructionGraph, GetInstructionAtUninstrumentedOffset, E_POINTER),
    ROW(IInstructionGraph, InsertBefore, E_POINTER),
    ROW(IInstructionGraph, InsertAfter, E_POINTER),
    ROW(IInstructionGraph, InsertBeforeAndRetargetOffsets, E_POINTER),
    ROW(IInstructionGraph, Replace, E_POINTER),
    ROW(IInstructionGraph, Remove, E_POINTER),
    ROW(IInstructionGraph, CreateBaseline, E_POINTER),
    ROW(IInstructionGraph, HasBaselineBeenSet, E_POINTER),
    ROW(IInstructionGraph, ExpandBranches, S_OK),
    ROW(IInstructionGraph, RemoveAll, S_OK),
};

static const struct row factory[] = {
    ROW(IInstructionFactory, CreateInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateByteOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateUShortOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateIntOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLongOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateFloatOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateDoubleOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateTokenOperandInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateBranchInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateSwitchInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLoadConstInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLoadLocalInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLoadLocalAddressInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateStoreLocalInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLoadArgInstruction, E_POINTER),
    ROW(IInstructionFactory, CreateLoadArgAddressInstruction, E_POINTER),
    ROW(IInstructionFactory, DecodeInstructionByteStream, E_POINTER),
};

static const struct row clause[] = {
    ROW(IExceptionClause, GetFlags, E_POINTER),
    ROW(IExceptionClause, GetTryFirstInstruction, E_POINTER),
    ROW(IExceptionClause, GetTryLastInstruction, E_POINTER),
    ROW(IExceptionClause, GetHandlerFirstInstruction, E_POINTER),
    ROW(IExceptionClause, GetHandlerLastInstruction, E_POINTER),
    ROW(IExceptionClause, GetFilterFirstInstruction, E_POINTER),
    ROW(IExceptionClause, GetExceptionHandlerType, E_POINTER),
    ROW(IExceptionClause, SetFlags, S_OK),
    ROW(IExceptionClause, SetTryFirstInstruction, S_OK),
    ROW(IExceptionClause, SetTryLastInstruction, S_OK),
    ROW(IExceptionClause, SetHandlerFirstInstruction, S_OK),
    ROW(IExceptionClause, SetHandlerLastInstruction, S_OK),
    ROW(IExceptionClause, SetFilterFirstInstruction, S_OK),
    ROW(IExceptionClause, SetExceptionHandlerType, S_OK),
};

static const struct row section[] = {
    ROW(IExceptionSection, GetMethodInfo, E_POINTER),
    ROW(IExceptionSection, GetExceptionClauses, E_POINTER),
    ROW(IExceptionSection, AddExceptionClause, E_POINTER),
    ROW(IExceptionSection, RemoveExceptionClause, S_OK),
    ROW(IExceptionSection, AddNewExceptionClause, E_POINTER),
    ROW(IExceptionSection, RemoveAllExceptionClauses, S_OK),
};

static const struct row single[] = {
    ROW(ISingleRetDefaultInstrumentation2, Initialize, E_POINTER),
    ROW(ISingleRetDefaultInstrumentation2, ApplySingleRetDefaultInstrumentation, E_UNEXPECTED),
    ROW(ISingleRetDefaultInstrumentation2, GetBranchTargetInstruction, E_POINTER),
};

static HRESULT call(void *object, size_t offset)
{
    slot *function;
    memcpy(&function, *(const char *const *)object + offset, sizeof(function));
    return function(object, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* @slots: how many the vtable has besides those of IUnknown, so that a row cannot be missing. */
static void zeros(void *object, const struct row *rows, size_t n, size_t slots)
{
    assert_int_equal(n, slots);
    for (size_t r = 0; r < n; r++) {
        HRESULT hr = call(object, rows[r].offset);
        if (hr != rows[r].zero)
            fail_msg("%s with zeros: 0x%08x, not 0x%08x", rows[r].name, (unsigned)hr, (unsigned)rows[r].zero);
    }
}

static void stale(void *object, const struct row *rows, size_t n)
{
    for (size_t r = 0; r < n; r++)
        if (call(object, rows[r].offset) != E_UNEXPECTED)
            fail_msg("%s of a released object does not fail", rows[r].name);
    assert_int_equal(((IUnknown *)object)->vtbl->AddRef(object), 0);
    assert_int_equal(((IUnknown *)object)->vtbl->Release(object), 0);
}

#define N(rows)                ((sizeof(rows)) / sizeof((rows)[0]))
#define SLOTS(interface)       (sizeof(interface##Vtbl) / sizeof(void *) - 3)
#define ZEROS(o, interface, rows) zeros((o), (rows), N(rows), SLOTS(interface))

static void every_slot_takes_null_and_outlives_its_object(void **state)
{
    struct fixture                     f;
    ISingleRetDefaultInstrumentation2 *s =
        clrie_face((struct clrie_object *)clrie_single_return_new(NULL, NULL), 0);
    IExceptionSection     *clauses;
    IEnumExceptionClauses *list;
    IExceptionClause      *one;
    IInstruction          *nop, *number, *jump, *table;
    ULONG                  n;
    void                  *o, *b, *t;
    (void)state;
    fixture_begin(&f, "A: nop\n ldc.i4 5\n switch (D)\n D: br E\n E: leave C\n B: pop\n leave C\n C: ret\n "
                      ".try A to B catch X handler B to C",
                  0);
    clauses = clrie_face((struct clrie_object *)clrie_graph_section(f.view), 0);
    OK(CALL(clauses, GetExceptionClauses, &list));
    OK(CALL(list, Next, 1, &one, &n));
    RELEASE(list);
    nop = fixture_at(&f, 0);
    number = fixture_at(&f, 1);
    table = fixture_at(&f, 2);
    jump = fixture_at(&f, 3);
    ZEROS(nop, IInstruction, instruction);
    ZEROS(number, IInstruction, instruction);
    ZEROS(jump, IInstruction, instruction);
    ZEROS(table, IInstruction, instruction);
    o = fixture_query(number, &IID_IOperandInstruction);
    b = fixture_query(jump, &IID_IBranchInstruction);
    t = fixture_query(table, &IID_ISwitchInstruction);
    ZEROS(o, IOperandInstruction, operand);
    ZEROS(b, IBranchInstruction, branch);
    ZEROS(t, ISwitchInstruction, switches);
    ZEROS(one, IExceptionClause, clause);
    ZEROS(clauses, IExceptionSection, section);
    ZEROS(f.graph, IInstructionGraph, graph);
    ZEROS(f.factory, IInstructionFactory, factory);
    ZEROS(s, ISingleRetDefaultInstrumentation2, single);
    RELEASE(one);
    RELEASE(s);
    fixture_end(&f);
    stale(nop, instruction, N(instruction));
    stale(jump, instruction, N(instruction));
    stale(o, operand, N(operand));
    stale(b, branch, N(branch));
    stale(t, switches, N(switches));
    stale(one, clause, N(clause));
    stale(clauses, section, N(section));
    stale(f.graph, graph, N(graph));
    stale(f.factory, factory, N(factory));
    stale(s, single, N(single));
}

/* The owner of a graph counts its references, and those of its section. */
static void a_graph_is_held_by_its_owner(void **state)
{
    static const uint8_t      code[] = {0x06, 0x2a};
    struct clrie_object      *owner = (struct clrie_object *)clrie_factory_new();
    struct clrie_graph_method method = {.info = &fixture_info, .il = fixture_method(0), .owner = owner};
    struct clrie_graph       *view;
    IInstructionGraph        *g;
    IExceptionSection        *s;
    DWORD                     offset;
    IInstruction             *i;
    (void)state;
    OK(clrie_graph_new(&method, code, sizeof(code), &view));
    g = clrie_face(&view->object, 0);
    s = clrie_face((struct clrie_object *)clrie_graph_section(view), 0);
    assert_int_equal(CALL(g, AddRef), 2);
    assert_int_equal(CALL(s, AddRef), 3);
    assert_int_equal(CALL(s, Release), 2);
    OK(CALL(g, GetFirstInstruction, &i));
    assert_int_equal(CALL(g, Release), 1);
    clrie_graph_free(view); /* the end of the owner does this */
    assert_int_equal(CALL(g, RemoveAll), E_UNEXPECTED);
    assert_int_equal(CALL(s, RemoveAllExceptionClauses), E_UNEXPECTED);
    OK(CALL(i, GetOffset, &offset));
    RELEASE(i);
    clrie_graph_free(NULL);
    clrie_unref(owner);
}

/* A plug-in that calls Release() too often does not take objects away from the graph. */
static void releasing_too_often_does_no_harm(void **state)
{
    struct fixture         f;
    IInstruction          *i, *fresh;
    IExceptionSection     *section_face;
    IExceptionClause      *one;
    IEnumExceptionClauses *list;
    ULONG                  n;
    (void)state;
    fixture_begin(&f, "A: nop\n leave C\n B: pop\n leave C\n C: ret\n .try A to B catch X handler B to C", 0);
    section_face = clrie_face((struct clrie_object *)clrie_graph_section(f.view), 0);
    OK(CALL(section_face, GetExceptionClauses, &list));
    OK(CALL(list, Next, 1, &one, &n));
    RELEASE(list);
    OK(CALL(f.graph, GetFirstInstruction, &i));
    fresh = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, InsertBefore, i, fresh));
    for (int k = 0; k < 20; k++) {
        RELEASE(i);
        RELEASE(fresh);
        RELEASE(one);
    }
    assert_ptr_equal(fixture_at(&f, 0), fresh);
    assert_ptr_equal(fixture_at(&f, 1), i);
    OK(CALL(f.graph, Remove, i));
    OK(CALL(f.graph, InsertBefore, fresh, i));
    assert_null(fixture_refused(&f, NULL));
    fixture_end(&f);
    assert_int_equal(CALL(i, GetIsNew, (BOOL *)&n), E_UNEXPECTED);
    assert_int_equal(CALL(one, SetFlags, 0), E_UNEXPECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_takes_null_and_outlives_its_object),
        cmocka_unit_test(a_graph_is_held_by_its_owner),
        cmocka_unit_test(releasing_too_often_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
