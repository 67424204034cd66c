/* SPDX-License-Identifier: MIT */
/* Changes of graphs: insert, replace, remove, branches and switches, instructions that change their graph. */
#include "tests/unit/clrie_graph_fixture.h"

static void put_before(struct fixture *f, unsigned at, IInstruction *i)
{
    OK(CALL(f->graph, InsertBefore, fixture_at(f, at), i));
    RELEASE(i);
}

static void instructions_are_inserted_before_and_after(void **state)
{
    struct fixture f;
    IInstruction  *i;
    BOOL           is_new;
    (void)state;
    fixture_begin(&f, "ldarg.0\n volatile. ldind.i4\n pop\n ret", 0);
    put_before(&f, 0, fixture_new(&f, Cee_Nop));
    put_before(&f, 3, fixture_new(&f, Cee_Break)); /* after the prefix: the caller's fault */
    i = fixture_new(&f, Cee_Dup);
    OK(CALL(f.graph, InsertAfter, fixture_at(&f, 5), i));
    OK(CALL(i, GetIsNew, &is_new));
    assert_true(is_new);
    RELEASE(i);
    i = fixture_new(&f, Cee_Ret);
    OK(CALL(f.graph, InsertAfter, fixture_at(&f, 7), i));
    RELEASE(i);
    assert_string_equal(fixture_code(&f), "nop; ldarg.0; volatile.; break; ldind.i4; pop; dup; ret; ret");
    assert_string_equal(fixture_refused(&f, NULL), "IL_0001: volatile. before break");
    OK(CALL(f.graph, GetLastInstruction, &i));
    assert_ptr_equal(i, fixture_at(&f, 8));
    RELEASE(i);
    fixture_end(&f);
}

static void wrong_instructions_are_refused(void **state)
{
    struct fixture f, other;
    IInstruction  *fresh, *here, *there;
    const void    *foreign[2] = {&fixture_info_vtbl, NULL};
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    fixture_begin(&other, "nop\n ret", 0);
    fresh = fixture_new(&f, Cee_Nop);
    here = fixture_at(&f, 0);
    there = fixture_at(&other, 0);
#define REFUSED(result, at, i)                                                          \
    assert_int_equal(CALL(f.graph, InsertBefore, (at), (i)), result);                   \
    assert_int_equal(CALL(f.graph, InsertBeforeAndRetargetOffsets, (at), (i)), result); \
    assert_int_equal(CALL(f.graph, Replace, (at), (i)), result)
#define REFUSED_AFTER(result, at, i)                  \
    assert_int_equal(CALL(f.graph, InsertAfter, (at), (i)), result); \
    REFUSED(result, at, i)
    REFUSED(E_POINTER, NULL, fresh);
    REFUSED_AFTER(E_POINTER, here, NULL);
    REFUSED_AFTER(E_UNEXPECTED, there, fresh);
    REFUSED_AFTER(E_UNEXPECTED, here, there);
    REFUSED_AFTER(E_UNEXPECTED, here, here);
    REFUSED_AFTER(E_UNEXPECTED, fresh, fresh);
    REFUSED_AFTER(E_INVALIDARG, (IInstruction *)foreign, fresh);
    REFUSED_AFTER(E_INVALIDARG, here, (IInstruction *)foreign);
    assert_int_equal(CALL(f.graph, InsertAfter, NULL, NULL), E_POINTER);
    assert_int_equal(CALL(f.graph, InsertAfter, NULL, here), E_UNEXPECTED);
    assert_int_equal(CALL(f.graph, Remove, NULL), E_POINTER);
    assert_int_equal(CALL(f.graph, Remove, there), E_UNEXPECTED);
    assert_int_equal(CALL(f.graph, Remove, fresh), E_UNEXPECTED);
    RELEASE(fresh);
    REFUSED_AFTER(E_INVALIDARG, here, fresh); /* released: its faces are those of a released object */
    assert_int_equal(CALL(f.graph, Remove, fresh), E_INVALIDARG);
    assert_string_equal(fixture_code(&f), "nop; ret");
    fixture_end(&f);
    fixture_end(&other);
}

static void branches_go_to_inserted_code_only_when_asked(void **state)
{
    struct fixture f;
    IInstruction  *fresh, *early, *own, *to;
    (void)state;
    fixture_begin(&f, "ldarg.0\n switch (A, B, A)\n B: nop\n A: nop\n ldarg.0\n brtrue A\n ret", 0);
    early = fixture_branch(&f, Cee_Br, fixture_at(&f, 3)); /* in no graph yet */
    fresh = fixture_new(&f, Cee_Break);
    OK(CALL(f.graph, InsertBefore, fixture_at(&f, 3), fresh));
    assert_ptr_equal(fixture_target(fixture_at(&f, 6)), fixture_at(&f, 4));
    RELEASE(fresh);
    own = fixture_branch(&f, Cee_Br, fixture_at(&f, 4)); /* inserted: keeps its target */
    OK(CALL(f.graph, InsertBeforeAndRetargetOffsets, fixture_at(&f, 4), own));
    assert_ptr_equal(fixture_target(own), fixture_at(&f, 5));
    assert_ptr_equal(fixture_target(fixture_at(&f, 7)), own);
    assert_ptr_equal(fixture_target(early), own);
    to = fixture_at(&f, 2);
    assert_string_equal(fixture_code(&f), "ldarg.0; switch     (IL_0014, IL_0012, IL_0014); nop; break; "
                                          "br         IL_0019; nop; ldarg.0; brtrue     IL_0014; ret");
    assert_null(fixture_refused(&f, NULL));
    (void)to;
    RELEASE(own);
    RELEASE(early);
    fixture_end(&f);
}

static void a_replaced_instruction_is_marked_and_can_come_back(void **state)
{
    struct fixture f;
    IInstruction  *old, *fresh, *next;
    BOOL           removed;
    (void)state;
    fixture_begin(&f, "ldarg.0\n brtrue A\n nop\n A: nop\n ret", 0);
    old = fixture_at(&f, 3);
    fresh = fixture_new(&f, Cee_Break);
    OK(CALL(f.graph, Replace, old, fresh));
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue     IL_0007; nop; break; ret");
    assert_ptr_equal(fixture_target(fixture_at(&f, 1)), fresh);
    OK(CALL(old, GetIsRemoved, &removed));
    assert_true(removed);
    OK(CALL(old, GetNextInstruction, &next)); /* the neighbour that it had: loops go on */
    assert_ptr_equal(next, fixture_at(&f, 4));
    RELEASE(next);
    OK(CALL(old, GetPreviousInstruction, &next));
    assert_ptr_equal(next, fixture_at(&f, 2));
    RELEASE(next);
    assert_int_equal(CALL(f.graph, Replace, old, fresh), E_UNEXPECTED);
    assert_int_equal(CALL(f.graph, Remove, old), E_UNEXPECTED);
    OK(CALL(f.graph, InsertAfter, fresh, old));
    OK(CALL(old, GetIsRemoved, &removed));
    assert_true(removed); /* for ever */
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue     IL_0007; nop; break; nop; ret");
    RELEASE(fresh);
    fixture_end(&f);
}

static void a_branch_to_a_removed_instruction_goes_to_its_successor(void **state)
{
    struct fixture       f;
    IInstruction        *gone;
    struct clrie_written written;
    (void)state;
    fixture_begin(&f, "ldarg.0\n brtrue A\n nop\n A: nop\n ret", 0);
    gone = fixture_at(&f, 3);
    OK(CALL(f.graph, Remove, gone));
    assert_ptr_equal(fixture_target(fixture_at(&f, 1)), gone); /* not changed */
    assert_null(fixture_refused(&f, &written));
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue     IL_0007; nop; ret");
    OK(CALL(f.graph, InsertBefore, fixture_at(&f, 0), gone)); /* meant again */
    assert_string_equal(fixture_code(&f), "nop; ldarg.0; brtrue     IL_0000; nop; ret");
    OK(CALL(f.graph, Remove, fixture_at(&f, 4)));
    assert_string_equal(fixture_refused(&f, NULL), "IL_0003: the code goes on beyond its end");
    fixture_end(&f);
}

static void what_names_a_replaced_instruction_later_means_its_replacement(void **state)
{
    struct fixture f;
    IInstruction  *ret, *nop, *branch;
    DWORD          offset = 0, was = 0;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    ret = fixture_at(&f, 1);
    nop = fixture_new(&f, Cee_Nop);
    OK(CALL(f.graph, Replace, ret, nop));
    branch = fixture_branch(&f, Cee_Leave, ret); /* a target that is gone already */
    OK(CALL(f.graph, InsertAfter, nop, branch));
    RELEASE(branch);
    RELEASE(nop);
    branch = fixture_new(&f, Cee_Pop);
    OK(CALL(f.graph, InsertAfter, fixture_at(&f, 2), branch));
    RELEASE(branch);
    branch = fixture_branch(&f, Cee_Leave, fixture_at(&f, 2));
    OK(CALL(f.graph, InsertAfter, fixture_at(&f, 3), branch));
    RELEASE(branch);
    OK(CALL(ret, GetOffset, &offset));
    OK(CALL(fixture_at(&f, 1), GetOffset, &was));
    assert_int_equal(offset, was);
    assert_string_equal(fixture_code(&f), "nop; nop; leave      IL_0001; pop; leave      IL_0002");
    fixture_end(&f);
}

static void the_only_instruction_is_removed_with_a_failure(void **state)
{
    struct fixture f;
    IInstruction  *i = (void *)1;
    (void)state;
    fixture_begin(&f, "ret", 0);
    assert_int_equal(CALL(f.graph, Remove, fixture_at(&f, 0)), E_FAIL);
    OK(CALL(f.graph, GetFirstInstruction, &i));
    assert_null(i);
    OK(CALL(f.graph, GetLastInstruction, &i));
    assert_null(i);
    OK(CALL(f.graph, GetOriginalFirstInstruction, &i));
    assert_non_null(i);
    RELEASE(i);
    assert_string_equal(fixture_refused(&f, NULL), "no code");
    fixture_end(&f);
}

static void a_graph_is_emptied_and_filled_again(void **state)
{
    struct fixture f;
    IInstruction  *first, *second, *i;
    BOOL           removed;
    (void)state;
    fixture_begin(&f, "nop\n nop\n ret", 0);
    first = fixture_at(&f, 0);
    OK(CALL(f.graph, RemoveAll));
    OK(CALL(first, GetIsRemoved, &removed));
    assert_true(removed);
    i = first;
    assert_int_equal(CALL(first, GetNextInstruction, &i), E_FAIL);
    OK(CALL(first, GetOriginalNextInstruction, &second)); /* made after it was removed */
    OK(CALL(second, GetIsRemoved, &removed));
    assert_true(removed);
    OK(CALL(f.graph, GetInstructionAtOriginalOffset, 2, &i));
    OK(CALL(f.graph, InsertAfter, NULL, i));
    OK(CALL(f.graph, InsertBefore, i, first));
    assert_string_equal(fixture_code(&f), "nop; ret");
    assert_null(fixture_refused(&f, NULL));
    RELEASE(i);
    RELEASE(second);
    /* On a graph that is not empty the others leave the list, but are not removed. */
    i = fixture_new(&f, Cee_Ret);
    OK(CALL(f.graph, InsertAfter, NULL, i));
    assert_string_equal(fixture_code(&f), "ret");
    assert_int_equal(CALL(f.graph, InsertAfter, i, first), E_UNEXPECTED);
    assert_int_equal(CALL(f.graph, InsertBefore, first, i), E_UNEXPECTED);
    OK(CALL(f.graph, Remove, first));
    OK(CALL(f.graph, InsertBefore, i, first));
    assert_string_equal(fixture_code(&f), "nop; ret");
    RELEASE(i);
    fixture_end(&f);
}

static void a_short_branch_becomes_long_only_when_it_must(void **state)
{
    struct fixture      f;
    IInstruction       *branch;
    IBranchInstruction *b;
    BOOL                is_short;
    DWORD               offset;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    branch = fixture_branch(&f, Cee_Br_S, fixture_at(&f, 1));
    put_before(&f, 0, branch);
    put_before(&f, 0, fixture_branch(&f, Cee_Br, fixture_at(&f, 1)));
    assert_string_equal(fixture_code(&f), "br         IL_0007; br.s       IL_0008; nop; ret");
    b = fixture_query(branch, &IID_IBranchInstruction);
    OK(CALL(b, IsShortBranch, &is_short));
    assert_true(is_short);
    for (unsigned n = 0; n < 127; n++)
        put_before(&f, 2, fixture_new(&f, Cee_Nop));
    OK(CALL(b, GetTargetOffset, &offset));
    assert_int_equal(offset, 5 + 5 + 128); /* long by now */
    assert_null(fixture_refused(&f, NULL));
    OK(CALL(b, ExpandBranch));
    OK(CALL(b, IsShortBranch, &is_short));
    assert_false(is_short);
    OK(CALL(b, ExpandBranch));
    OK(CALL(b, GetTargetOffset, &offset));
    assert_int_equal(offset, 5 + 5 + 128);
    OK(CALL(f.graph, ExpandBranches));
    fixture_end(&f);
}

static void targets_are_set_in_any_order(void **state)
{
    struct fixture      f;
    IInstruction       *label, *branch, *to = (void *)1;
    IBranchInstruction *b;
    DWORD               offset = 9;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    label = fixture_new(&f, Cee_Nop);
    branch = fixture_branch(&f, Cee_Br, NULL);
    b = fixture_query(branch, &IID_IBranchInstruction);
    assert_int_equal(CALL(b, GetBranchTarget, &to), E_FAIL);
    assert_null(to);
    OK(CALL(b, GetTargetOffset, &offset));
    assert_int_equal(offset, 0);
    assert_int_equal(CALL(b, SetBranchTarget, NULL), E_POINTER);
    put_before(&f, 0, branch); /* released; the graph holds it */
    assert_string_equal(fixture_refused(&f, NULL), "br goes nowhere");
    OK(CALL(b, SetBranchTarget, label));
    RELEASE(label); /* the branch holds it */
    OK(CALL(b, GetBranchTarget, &to));
    assert_ptr_equal(to, label);
    assert_string_equal(fixture_refused(&f, NULL), "br goes nowhere");
    OK(CALL(f.graph, InsertBefore, fixture_at(&f, 2), to));
    RELEASE(to);
    assert_null(fixture_refused(&f, NULL));
    assert_string_equal(fixture_code(&f), "br         IL_0006; nop; nop; ret");
    fixture_end(&f);
}

static void branches_that_point_to_each_other_do_not_leak(void **state)
{
    struct fixture      f;
    IInstruction       *a, *b, *to = (void *)1;
    IBranchInstruction *branch;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    a = fixture_branch(&f, Cee_Br, NULL);
    b = fixture_branch(&f, Cee_Br, a);
    branch = fixture_query(a, &IID_IBranchInstruction);
    OK(CALL(branch, SetBranchTarget, b));
    RELEASE(b); /* the last one of b: a has no target then */
    assert_int_equal(CALL(branch, GetBranchTarget, &to), E_FAIL);
    OK(CALL(branch, SetBranchTarget, a));
    put_before(&f, 0, a);
    assert_ptr_equal(fixture_target(a), a);
    fixture_end(&f);
}

static void a_switch_has_as_many_targets_as_it_is_given(void **state)
{
    struct fixture      f;
    IInstruction       *targets[3], *i, *to;
    ISwitchInstruction *s;
    DWORD               n, offset;
    (void)state;
    fixture_begin(&f, "nop\n nop\n ret", 0);
    targets[0] = fixture_at(&f, 0);
    targets[1] = fixture_at(&f, 2);
    targets[2] = targets[0];
    OK(CALL(f.factory, CreateSwitchInstruction, Cee_Switch, 3, targets, &i));
    s = fixture_query(i, &IID_ISwitchInstruction);
    for (int inserted = 0; inserted < 2; inserted++) {
        OK(CALL(s, GetBranchCount, &n));
        assert_int_equal(n, 3);
        OK(CALL(i, GetOperandLength, &n));
        assert_int_equal(n, 16);
        OK(CALL(i, GetInstructionLength, &n));
        assert_int_equal(n, 0);
        OK(CALL(s, GetBranchTarget, 1, &to));
        assert_ptr_equal(to, targets[1]);
        RELEASE(to);
        OK(CALL(s, GetBranchTarget, 3, &to));
        assert_null(to);
        assert_int_equal(CALL(s, SetBranchTarget, 3, targets[0]), E_INVALIDARG);
        assert_int_equal(CALL(s, RemoveBranchTargetAt, 3), E_INVALIDARG);
        assert_int_equal(CALL(s, GetBranchOffset, 3, &offset), E_INVALIDARG);
        if (!inserted)
            OK(CALL(f.graph, InsertAfter, targets[0], i));
    }
    put_before(&f, 1, fixture_new(&f, Cee_Ldarg_0));
    OK(CALL(s, GetBranchOffset, 1, &offset));
    assert_int_equal(offset, fixture_offset(targets[1]));
    assert_string_equal(fixture_code(&f), "nop; ldarg.0; switch     (IL_0000, IL_0014, IL_0000); nop; ret");
    OK(CALL(s, ReplaceBranchTarget, targets[0], targets[1]));
    assert_string_equal(fixture_code(&f), "nop; ldarg.0; switch     (IL_0014, IL_0014, IL_0014); nop; ret");
    OK(CALL(s, SetBranchTarget, 1, targets[0]));
    OK(CALL(s, RemoveBranchTargetAt, 0));
    assert_string_equal(fixture_code(&f), "nop; ldarg.0; switch     (IL_0000, IL_0010); nop; ret");
    assert_int_equal(fixture_offset(targets[1]), 0x10); /* offsets are always right */
    assert_null(fixture_refused(&f, NULL));
    OK(CALL(s, SetBranchTarget, 0, NULL));
    assert_string_equal(fixture_refused(&f, NULL), "IL_0000: switch goes nowhere");
    OK(CALL(s, RemoveBranchTarget, targets[1]));
    OK(CALL(s, RemoveBranchTargetAt, 0));
    assert_int_equal(CALL(s, ReplaceBranchTarget, targets[0], targets[1]), E_BOUNDS);
    assert_null(fixture_refused(&f, NULL));
    RELEASE(i);
    fixture_end(&f);
}

static void a_decoded_graph_gives_its_instructions_to_another(void **state)
{
    static const uint8_t  code[] = {0x02, 0x2d, 0x01, 0x00, 0x00}; /* ldarg.0; brtrue.s +1; nop; nop */
    struct fixture        f;
    IInstructionGraph    *decoded;
    IInstruction         *i[4], *to;
    InstructionGeneration generation;
    DWORD                 offset;
    IMethodInfo          *info = (void *)1;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    OK(CALL(f.factory, DecodeInstructionByteStream, sizeof(code), code, &decoded));
    assert_int_equal(CALL(decoded, GetMethodInfo, &info), E_FAIL);
    assert_null(info);
    OK(CALL(decoded, GetFirstInstruction, &i[0]));
    for (unsigned n = 1; n < 4; n++)
        OK(CALL(i[n - 1], GetOriginalNextInstruction, &i[n]));
    OK(CALL(i[3], GetInstructionGeneration, &generation));
    assert_int_equal(generation, Generation_New);
    OK(CALL(i[3], GetOriginalOffset, &offset));
    assert_int_equal(offset, 0);
    assert_int_equal(fixture_offset(i[3]), 4);
    assert_int_equal(CALL(f.graph, InsertBefore, fixture_at(&f, 0), i[0]), E_UNEXPECTED);
    for (unsigned n = 4; n-- > 0;) {
        OK(CALL(decoded, Remove, i[n]));
        OK(CALL(f.graph, InsertBefore, fixture_at(&f, 0), i[n]));
    }
    RELEASE(decoded); /* ends: the instructions live on in the other graph */
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue.s   IL_0004; nop; nop; nop; ret");
    assert_int_equal(CALL(i[0], GetOriginalNextInstruction, &to), E_FAIL);
    assert_null(fixture_refused(&f, NULL));
    for (unsigned n = 0; n < 4; n++)
        RELEASE(i[n]);
    OK(CALL(f.factory, DecodeInstructionByteStream, 0, code, &decoded));
    OK(CALL(decoded, GetFirstInstruction, &to));
    assert_null(to);
    assert_int_equal(CALL(decoded, GetOriginalFirstInstruction, &to), E_FAIL);
    RELEASE(decoded);
    assert_int_equal(CALL(f.factory, DecodeInstructionByteStream, 3, NULL, &decoded), E_POINTER);
    assert_int_equal(CALL(f.factory, DecodeInstructionByteStream, 2, code, &decoded), E_FAIL);
    assert_null(decoded);
    fixture_end(&f);
}

static void an_instruction_goes_to_another_graph_and_back(void **state)
{
    struct fixture f, other;
    IInstruction  *i;
    (void)state;
    fixture_begin(&f, "A: nop\n ldarg.0\n brtrue A\n ret", 0);
    fixture_begin(&other, "nop\n ret", 0);
    i = fixture_at(&f, 0);
    OK(CALL(f.graph, Remove, i));
    OK(CALL(other.graph, InsertBefore, fixture_at(&other, 0), i));
    assert_string_equal(fixture_refused(&f, NULL), "IL_0002: brtrue goes nowhere");
    assert_ptr_equal(fixture_target(fixture_at(&f, 1)), i);
    OK(CALL(other.graph, Remove, i));
    OK(CALL(f.graph, InsertAfter, fixture_at(&f, 1), i));
    assert_null(fixture_refused(&f, NULL));
    assert_string_equal(fixture_code(&f), "ldarg.0; brtrue     IL_0006; nop; ret");
    OK(CALL(f.graph, Remove, i)); /* and a branch moves while its target stays */
    i = fixture_at(&f, 1);
    OK(CALL(f.graph, Remove, i));
    OK(CALL(other.graph, InsertBefore, fixture_at(&other, 0), i));
    assert_string_equal(fixture_refused(&other, NULL), "brtrue goes nowhere");
    fixture_end(&f);
    fixture_end(&other);
}

static void opcodes_and_kinds_need_not_agree(void **state)
{
    struct fixture f;
    IInstruction  *i, *target;
    DWORD          length;
    (void)state;
    fixture_begin(&f, "nop\n ret", 0);
    i = fixture_new(&f, Cee_Br_S); /* plain */
    OK(CALL(i, GetInstructionLength, &length));
    assert_int_equal(length, 2);
    put_before(&f, 0, i);
    assert_string_equal(fixture_refused(&f, NULL), "br.s goes nowhere");
    OK(CALL(f.graph, Remove, i));
    target = fixture_at(&f, 1);
    put_before(&f, 0, fixture_branch(&f, Cee_Nop, target));
    assert_ptr_equal(fixture_target(fixture_at(&f, 0)), target);
    OK(CALL(f.factory, CreateSwitchInstruction, Cee_Nop, 1, &target, &i));
    put_before(&f, 0, i);
    put_before(&f, 0, fixture_new(&f, Cee_Ldarg_0));
    assert_string_equal(fixture_refused(&f, NULL), "IL_0001: ret leaves values on the stack");
    put_before(&f, 1, fixture_new(&f, Cee_Pop));
    assert_null(fixture_refused(&f, NULL));
    assert_string_equal(fixture_code(&f), "ldarg.0; pop; nop; nop; nop; ret");
    put_before(&f, 0, fixture_new(&f, Cee_Unused1));
    assert_string_equal(fixture_refused(&f, NULL), "no such opcode: 0x078");
    put_before(&f, 0, fixture_new(&f, Cee_Switch)); /* without targets */
    assert_string_equal(fixture_refused(&f, NULL), "a switch without targets");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_inserted_before_and_after),
        cmocka_unit_test(wrong_instructions_are_refused),
        cmocka_unit_test(branches_go_to_inserted_code_only_when_asked),
        cmocka_unit_test(a_replaced_instruction_is_marked_and_can_come_back),
        cmocka_unit_test(a_branch_to_a_removed_instruction_goes_to_its_successor),
        cmocka_unit_test(what_names_a_replaced_instruction_later_means_its_replacement),
        cmocka_unit_test(the_only_instruction_is_removed_with_a_failure),
        cmocka_unit_test(a_graph_is_emptied_and_filled_again),
        cmocka_unit_test(a_short_branch_becomes_long_only_when_it_must),
        cmocka_unit_test(targets_are_set_in_any_order),
        cmocka_unit_test(branches_that_point_to_each_other_do_not_leak),
        cmocka_unit_test(a_switch_has_as_many_targets_as_it_is_given),
        cmocka_unit_test(a_decoded_graph_gives_its_instructions_to_another),
        cmocka_unit_test(an_instruction_goes_to_another_graph_and_back),
        cmocka_unit_test(opcodes_and_kinds_need_not_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
