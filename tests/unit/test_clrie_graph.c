/* SPDX-License-Identifier: MIT */
/* The instructions of a graph as plug-ins read them: opcodes, operands, offsets, neighbours, the factory. */
#include "tests/unit/clrie_graph_fixture.h"

#include <stdlib.h>

static void every_opcode_is_described_as_in_the_table(void **state)
{
    FILE          *table = fopen("tests/unit/clrie_opcodes.tsv", "r");
    char           line[200], name[32], type[64], other[64], flags[64];
    unsigned       ordinal, rows = 0;
    int            opcode_length, operand_length;
    struct fixture f;
    (void)state;
    assert_non_null(table);
    fixture_begin(&f, "ret", 0);
    assert_non_null(fgets(line, sizeof(line), table));
    while (fgets(line, sizeof(line), table)) {
        static const char *const types[] = {"None", "Byte", "Int", "UShort", "Long", "Single", "Double", "Token",
                                            "Switch"};
        IInstruction            *i;
        BSTR                     text;
        char                     plain[32] = "";
        DWORD                    length, operand;
        ILOperandType            kind;
        ILOpcodeFlags            is;
        ILOrdinalOpcode          alternate, self, back;
        assert_int_equal(sscanf(line, "%x %31s %d %d %63s %63s %63s", &ordinal, name, &opcode_length,
                                &operand_length, type, other, flags),
                         7);
        i = fixture_new(&f, (ILOrdinalOpcode)ordinal);
        OK(CALL(i, GetOpCode, &self));
        OK(CALL(i, GetOpCodeName, &text));
        OK(CALL(i, GetOpcodeLength, &length));
        OK(CALL(i, GetOperandLength, &operand));
        OK(CALL(i, GetOperandType, &kind));
        OK(CALL(i, GetOpcodeFlags, &is));
        OK(CALL(i, GetAlternateOrdinalOpcode, &alternate));
        for (unsigned c = 0; text[c]; c++)
            plain[c] = (char)text[c];
        clrie_string_free(text);
        assert_int_equal(self, ordinal);
        assert_string_equal(plain, name);
        assert_int_equal(length, opcode_length);
        assert_int_equal(operand, operand_length < 0 ? 0 : operand_length);
        assert_string_equal(types[kind], strchr(type, '_') + 1);
        assert_string_equal(is == ILOpcodeFlag_Branch   ? "Branch"
                            : is == ILOpcodeFlag_Unused ? "Unused"
                                                        : "None",
                            strchr(flags, '_') + 1);
        OK(CALL(i, GetInstructionLength, &length));
        assert_int_equal(length, opcode_length + operand_length);
        assert_int_equal(alternate == Cee_Invalid, strcmp(other, "Cee_Invalid") == 0);
        if (alternate != Cee_Invalid) { /* the table names it: Cee_Ldarg_S is ldarg.s */
            IInstruction *j = fixture_new(&f, alternate);
            OK(CALL(j, GetOpCodeName, &text));
            for (unsigned c = 0; text[c]; c++) {
                char expected = other[4 + c] == '_' ? '.' : (char)(other[4 + c] | 0x20);
                if (other[4 + c] >= '0' && other[4 + c] <= '9')
                    expected = other[4 + c];
                assert_int_equal(text[c], expected);
            }
            OK(CALL(j, GetAlternateOrdinalOpcode, &back));
            assert_int_equal(back, ordinal);
            clrie_string_free(text);
            RELEASE(j);
        }
        RELEASE(i);
        rows++;
    }
    fclose(table);
    assert_int_equal(rows, SXS_IL_N_OPCODES);
    fixture_end(&f);
}

static void instructions_end_control_flow_in_these_ways(void **state)
{
    static const struct {
        ILOrdinalOpcode opcode;
        int             ends, call;
    } rows[] = {
        {Cee_Nop, TerminationType_FallThrough, 0},      {Cee_Break, TerminationType_Trap, 0},
        {Cee_Switch, TerminationType_Switch, 0},        {Cee_Ret, TerminationType_Return, 0},
        {Cee_Endfinally, TerminationType_Return, 0},    {Cee_Endfilter, TerminationType_Return, 0},
        {Cee_Call, TerminationType_Call, 1},            {Cee_Jmp, TerminationType_Call, 0},
        {Cee_Newobj, TerminationType_Call, 0},          {Cee_Calli, TerminationType_IndirectCall, 1},
        {Cee_Callvirt, TerminationType_IndirectCall, 1}, {Cee_Br, TerminationType_Branch, 0},
        {Cee_Br_S, TerminationType_Branch, 0},          {Cee_Leave, TerminationType_Branch, 0},
        {Cee_Leave_S, TerminationType_Branch, 0},       {Cee_Throw, TerminationType_Throw, 0},
        {Cee_Rethrow, TerminationType_Throw, 0},        {Cee_Brtrue_S, TerminationType_ConditionalBranch, 0},
        {Cee_Blt_Un, TerminationType_ConditionalBranch, 0}, {Cee_Tailcall, TerminationType_FallThrough, 0},
    };
    struct fixture f;
    (void)state;
    fixture_begin(&f, "ret", 0);
    for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        IInstruction              *i = fixture_new(&f, rows[r].opcode);
        InstructionTerminationType ends;
        BOOL                       call, through, is_switch;
        OK(CALL(i, GetTerminationType, &ends));
        OK(CALL(i, GetIsCallInstruction, &call));
        OK(CALL(i, GetIsFallThrough, &through));
        OK(CALL(i, GetIsSwitch, &is_switch));
        assert_int_equal(ends, rows[r].ends);
        assert_int_equal(call, rows[r].call);
        assert_int_equal(through, rows[r].ends == TerminationType_FallThrough);
        assert_int_equal(is_switch, rows[r].opcode == Cee_Switch);
        RELEASE(i);
    }
    fixture_end(&f);
}

static void a_graph_has_long_branches_and_both_offsets(void **state)
{
    struct fixture f;
    IInstruction  *i;
    DWORD          offset;
    (void)state;
    fixture_begin(&f, "ldarg.0\n brtrue.s END\n ldc.i4 5\n pop\n END: ret", 0);
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue     IL_000c; ldc.i4     5; pop; ret");
    OK(CALL(fixture_at(&f, 2), GetOriginalOffset, &offset));
    assert_int_equal(offset, 3);
    assert_int_equal(fixture_offset(fixture_at(&f, 2)), 6);
    OK(CALL(f.graph, GetInstructionAtOffset, 6, &i));
    assert_ptr_equal(i, fixture_at(&f, 2));
    RELEASE(i);
    OK(CALL(f.graph, GetInstructionAtOriginalOffset, 3, &i));
    assert_ptr_equal(i, fixture_at(&f, 2));
    RELEASE(i);
    OK(CALL(f.graph, GetInstructionAtUninstrumentedOffset, 3, &i));
    assert_ptr_equal(i, fixture_at(&f, 2));
    RELEASE(i);
    assert_int_equal(CALL(f.graph, GetInstructionAtOffset, 7, &i), E_FAIL);
    assert_null(i);
    assert_int_equal(CALL(f.graph, GetInstructionAtOriginalOffset, 6, &i), E_FAIL);
    assert_int_equal(CALL(f.graph, GetInstructionAtOffset, 1000, &i), E_FAIL);
    fixture_end(&f);
}

static void neighbours_end_with_a_failure(void **state)
{
    struct fixture        f;
    IInstruction         *i, *first, *last;
    InstructionGeneration generation;
    BOOL                  value;
    IMethodInfo          *info;
    (void)state;
    fixture_begin(&f, "nop\n nop\n ret", 0);
    OK(CALL(f.graph, GetFirstInstruction, &first));
    OK(CALL(f.graph, GetLastInstruction, &last));
    OK(CALL(f.graph, GetOriginalLastInstruction, &i));
    assert_ptr_equal(i, last);
    RELEASE(i);
    OK(CALL(f.graph, GetOriginalFirstInstruction, &i));
    assert_ptr_equal(i, first);
    RELEASE(i);
    OK(CALL(first, GetNextInstruction, &i));
    assert_ptr_equal(i, fixture_at(&f, 1));
    RELEASE(i);
    OK(CALL(last, GetOriginalPreviousInstruction, &i));
    assert_ptr_equal(i, fixture_at(&f, 1));
    RELEASE(i);
    i = first;
    assert_int_equal(CALL(first, GetPreviousInstruction, &i), E_FAIL);
    assert_null(i);
    assert_int_equal(CALL(last, GetNextInstruction, &i), E_FAIL);
    assert_int_equal(CALL(first, GetOriginalPreviousInstruction, &i), E_FAIL);
    assert_int_equal(CALL(last, GetOriginalNextInstruction, &i), E_FAIL);
    OK(CALL(first, GetInstructionGeneration, &generation));
    assert_int_equal(generation, Generation_Original);
    OK(CALL(first, GetIsNew, &value));
    assert_false(value);
    i = first;
    assert_int_equal(CALL(f.graph, GetUninstrumentedFirstInstruction, &i), S_FALSE);
    assert_null(i);
    assert_int_equal(CALL(f.graph, GetUninstrumentedLastInstruction, &i), S_FALSE);
    OK(CALL(f.graph, GetMethodInfo, &info));
    assert_ptr_equal(info, &fixture_info);
    RELEASE(info);
    RELEASE(first);
    RELEASE(last);
    fixture_end(&f);
}

static void objects_answer_the_interfaces_of_their_kind(void **state)
{
    static const GUID *const iids[] = {&IID_IOperandInstruction, &IID_IBranchInstruction, &IID_ISwitchInstruction};
    static const char        kinds[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    struct fixture           f;
    (void)state;
    fixture_begin(&f, "A: nop\n ldc.i4 7\n brtrue A\n ldarg.0\n switch (A)\n ret", 0);
    for (unsigned k = 0; k < 4; k++)
        for (unsigned n = 0; n < 3; n++) {
            IInstruction *i = fixture_at(&f, k == 3 ? 4 : k);
            void         *out = &f;
            assert_int_equal(CALL(i, QueryInterface, iids[n], &out), kinds[k][n] ? S_OK : E_NOINTERFACE);
            assert_int_equal(out != NULL, kinds[k][n]);
            if (out)
                RELEASE((IUnknown *)out);
            assert_non_null(fixture_query(i, &IID_IDataContainer));
        }
    fixture_end(&f);
}

static void operands_are_read_and_written_in_their_size(void **state)
{
    struct fixture       f;
    IOperandInstruction *operand;
    IInstruction        *i;
    int32_t              value = 0;
    uint8_t              bytes[8] = {0};
    (void)state;
    fixture_begin(&f, "ldc.i4 -2\n pop\n ldc.i4.s -3\n pop\n ret", 0);
    operand = fixture_query(fixture_at(&f, 0), &IID_IOperandInstruction);
    OK(CALL(operand, GetOperandValue, 8, bytes));
    memcpy(&value, bytes, 4);
    assert_int_equal(value, -2);
    assert_int_equal(bytes[4], 0); /* no more than the operand is written */
    assert_int_equal(CALL(operand, GetOperandValue, 3, bytes), E_FAIL);
    assert_int_equal(CALL(operand, SetOperandValue, 8, bytes), E_FAIL);
    assert_int_equal(CALL(operand, SetOperandValue, 4, NULL), E_POINTER);
    value = 123456;
    OK(CALL(operand, SetOperandValue, 4, (BYTE *)&value));
    operand = fixture_query(fixture_at(&f, 2), &IID_IOperandInstruction);
    bytes[0] = 0x80;
    OK(CALL(operand, SetOperandValue, 1, bytes));
    assert_string_equal(fixture_code(&f), "ldc.i4     123456; pop; ldc.i4.s   -128; pop; ret");
    assert_null(fixture_refused(&f, NULL));
    OK(CALL(f.factory, CreateLoadConstInstruction, 3, &i)); /* ldc.i4.3 */
    operand = fixture_query(i, &IID_IOperandInstruction);
    assert_int_equal(CALL(operand, GetOperandValue, 8, bytes), E_FAIL);
    RELEASE(i);
    fixture_end(&f);
}

static void check_made(IInstruction *i, unsigned opcode, uint32_t size, uint64_t value)
{
    ILOrdinalOpcode      made;
    IOperandInstruction *operand = fixture_query(i, &IID_IOperandInstruction);
    uint64_t             bits = 0;
    OK(CALL(i, GetOpCode, &made));
    assert_int_equal(made, opcode);
    if (size) {
        OK(CALL(operand, GetOperandValue, size, (BYTE *)&bits));
        assert_true(bits == value);
        assert_int_equal(CALL(operand, GetOperandValue, size - 1, (BYTE *)&bits), E_FAIL);
    } else {
        assert_int_equal(CALL(operand, GetOperandValue, 8, (BYTE *)&bits), E_FAIL);
    }
    RELEASE(i);
}

static void the_factory_takes_the_shortest_forms(void **state)
{
    static const struct {
        int      value;
        unsigned opcode, size;
    } consts[] = {{-1, Cee_Ldc_I4_M1, 0}, {0, Cee_Ldc_I4_0, 0},    {8, Cee_Ldc_I4_8, 0}, {9, Cee_Ldc_I4_S, 1},
                  {127, Cee_Ldc_I4_S, 1}, {128, Cee_Ldc_I4, 4},    {-2, Cee_Ldc_I4, 4},  {-128, Cee_Ldc_I4, 4},
                  {-129, Cee_Ldc_I4, 4},  {INT32_MIN, Cee_Ldc_I4, 4}};
    static const uint16_t numbers[] = {0, 3, 4, 255, 256, 300, 65535};
    struct fixture        f;
    IInstruction         *i;
    (void)state;
    fixture_begin(&f, "ret", 0);
    for (unsigned c = 0; c < sizeof(consts) / sizeof(consts[0]); c++) {
        OK(CALL(f.factory, CreateLoadConstInstruction, consts[c].value, &i));
        check_made(i, consts[c].opcode, consts[c].size,
                   consts[c].size == 1 ? (uint8_t)consts[c].value : (uint32_t)consts[c].value);
    }
    for (unsigned c = 0; c < sizeof(numbers) / sizeof(numbers[0]); c++) {
        uint16_t n = numbers[c];
        unsigned size = n > 255 ? 2 : n > 3 ? 1 : 0;
#define FORM(zero, narrow, wide) (n > 255 ? (unsigned)(wide) : n > 3 ? (unsigned)(narrow) : (unsigned)(zero) + n)
        OK(CALL(f.factory, CreateLoadLocalInstruction, n, &i));
        check_made(i, FORM(Cee_Ldloc_0, Cee_Ldloc_S, Cee_Ldloc), size, n);
        OK(CALL(f.factory, CreateStoreLocalInstruction, n, &i));
        check_made(i, FORM(Cee_Stloc_0, Cee_Stloc_S, Cee_Stloc), size, n);
        OK(CALL(f.factory, CreateLoadArgInstruction, n, &i)); /* CLRIE keeps the low byte only */
        check_made(i, FORM(Cee_Ldarg_0, Cee_Ldarg_S, Cee_Ldarg), size, n);
        OK(CALL(f.factory, CreateLoadLocalAddressInstruction, n, &i));
        check_made(i, n > 255 ? Cee_Ldloca : Cee_Ldloca_S, n > 255 ? 2 : 1, n);
        OK(CALL(f.factory, CreateLoadArgAddressInstruction, n, &i));
        check_made(i, n > 255 ? Cee_Ldarga : Cee_Ldarga_S, n > 255 ? 2 : 1, n);
    }
    fixture_end(&f);
}

static void the_factory_takes_operands_of_each_kind(void **state)
{
    struct fixture f;
    IInstruction  *i;
    float          single = 1.5f;
    double         big = -2.25;
    uint64_t       bits = 0;
    (void)state;
    fixture_begin(&f, "ret", 0);
    OK(CALL(f.factory, CreateByteOperandInstruction, Cee_Ldc_I4_S, 0xfe, &i));
    check_made(i, Cee_Ldc_I4_S, 1, 0xfe);
    OK(CALL(f.factory, CreateUShortOperandInstruction, Cee_Ldloc, 0xfffe, &i));
    check_made(i, Cee_Ldloc, 2, 0xfffe);
    OK(CALL(f.factory, CreateIntOperandInstruction, Cee_Call, 0x0a000001, &i)); /* a token's size */
    check_made(i, Cee_Call, 4, 0x0a000001);
    OK(CALL(f.factory, CreateLongOperandInstruction, Cee_Ldc_I8, -5, &i));
    check_made(i, Cee_Ldc_I8, 8, (uint64_t)-5);
    memcpy(&bits, &single, 4);
    OK(CALL(f.factory, CreateFloatOperandInstruction, Cee_Ldc_R4, single, &i));
    check_made(i, Cee_Ldc_R4, 4, bits);
    memcpy(&bits, &big, 8);
    OK(CALL(f.factory, CreateDoubleOperandInstruction, Cee_Ldc_R8, big, &i));
    check_made(i, Cee_Ldc_R8, 8, bits);
    OK(CALL(f.factory, CreateTokenOperandInstruction, Cee_Ldstr, 0x70000001, &i));
    check_made(i, Cee_Ldstr, 4, 0x70000001);
    OK(CALL(f.factory, CreateByteOperandInstruction, Cee_Ldc_I4, 7, &i)); /* another size: 0 */
    check_made(i, Cee_Ldc_I4, 4, 0);
    OK(CALL(f.factory, CreateLongOperandInstruction, Cee_Nop, 7, &i));
    check_made(i, Cee_Nop, 0, 0);
    assert_int_equal(CALL(f.factory, CreateInstruction, Cee_Count, &i), E_INVALIDARG);
    assert_null(i);
    assert_int_equal(CALL(f.factory, CreateInstruction, -1, &i), E_INVALIDARG);
    assert_int_equal(CALL(f.factory, CreateBranchInstruction, Cee_Invalid, NULL, &i), E_INVALIDARG);
    fixture_end(&f);
}

static void a_graph_that_ends_leaves_what_is_held_usable(void **state)
{
    struct fixture       f;
    IInstruction        *held, *stale, *branch, *to = NULL;
    IOperandInstruction *operand;
    IBranchInstruction  *b;
    int32_t              value;
    DWORD                offset;
    (void)state;
    fixture_begin(&f, "A: ldc.i4 7\n brtrue A\n ret", 0);
    OK(CALL(f.graph, GetFirstInstruction, &held));
    branch = fixture_at(&f, 1);
    CALL(branch, AddRef);
    stale = fixture_at(&f, 2);
    clrie_graph_free(f.view);
    operand = fixture_query(held, &IID_IOperandInstruction);
    OK(CALL(operand, GetOperandValue, 4, (BYTE *)&value));
    assert_int_equal(value, 7);
    assert_int_equal(CALL(held, GetNextInstruction, &to), E_FAIL);
    assert_int_equal(CALL(held, GetOriginalNextInstruction, &to), E_FAIL);
    OK(CALL(held, GetOffset, &offset));
    b = fixture_query(branch, &IID_IBranchInstruction);
    assert_int_equal(CALL(b, GetBranchTarget, &to), E_FAIL);
    OK(CALL(b, SetBranchTarget, held));
    OK(CALL(b, GetBranchTarget, &to));
    assert_ptr_equal(to, held);
    RELEASE(to);
    assert_int_equal(CALL(stale, GetOffset, &offset), E_UNEXPECTED);
    assert_int_equal(CALL(stale, GetNextInstruction, &to), E_UNEXPECTED);
    RELEASE(held);
    RELEASE(branch);
    RELEASE(f.factory);
}

static void bytes_that_are_no_body_are_refused(void **state)
{
    static const uint8_t bad[][4] = {{0x00}, {0x06, 0x24}, {0x0a, 0x2b, 0x05}, {0x06}};
    struct clrie_graph  *graph = (void *)1;
    (void)state;
    for (unsigned b = 0; b < 4; b++) {
        assert_int_equal(clrie_graph_new(NULL, bad[b], b == 3 ? 1 : 4, &graph), E_FAIL);
        assert_null(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_is_described_as_in_the_table),
        cmocka_unit_test(instructions_end_control_flow_in_these_ways),
        cmocka_unit_test(a_graph_has_long_branches_and_both_offsets),
        cmocka_unit_test(neighbours_end_with_a_failure),
        cmocka_unit_test(objects_answer_the_interfaces_of_their_kind),
        cmocka_unit_test(operands_are_read_and_written_in_their_size),
        cmocka_unit_test(the_factory_takes_the_shortest_forms),
        cmocka_unit_test(the_factory_takes_operands_of_each_kind),
        cmocka_unit_test(a_graph_that_ends_leaves_what_is_held_usable),
        cmocka_unit_test(bytes_that_are_no_body_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
