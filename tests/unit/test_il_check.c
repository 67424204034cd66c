/* SPDX-License-Identifier: MIT */
/* What the checker accepts and what it refuses, rule by rule. */
#include "tests/unit/il_fixture.h"

static void accepts(const char *text, int returns)
{
    const char *said = fixture_check(text, returns);
    if (said)
        fail_msg("refused: %s\n%s", said, text);
}

/* Refused, for a reason that has @why in it. */
static void refuses(const char *text, int returns, const char *why)
{
    const char *said = fixture_check(text, returns);
    if (!said)
        fail_msg("accepted:\n%s", text);
    else if (!strstr(said, why))
        fail_msg("said \"%s\", not \"%s\":\n%s", said, why, text);
}

static void heights_are_followed_along_every_way(void **state)
{
    (void)state;
    accepts("ldarg.0\n ret", 1);
    accepts("ldarg.0\n brtrue.s A\n ldc.i4.0\n br.s B\n A: ldc.i4.1\n B: ret", 1);
    refuses("ret", 1, "ret takes 1 values");
    refuses("ldarg.0\n ret", 0, "leaves values");
    refuses("ldarg.0\n ldarg.1\n ret", 1, "leaves values");
    refuses("pop\n ret", 0, "pop takes 1 values");
    refuses("ldarg.0\n brtrue.s A\n ldc.i4.0\n A: ret", 1, "reached with");
    refuses("A: ldarg.0\n br.s A", 0, "reached with");
    accepts("ldarg.0\n switch (A, B)\n ldc.i4.0\n ret\n A: ldc.i4.1\n ret\n B: ldc.i4.2\n ret", 1);
}

static void calls_do_what_their_signatures_say(void **state)
{
    (void)state;
    accepts("ldarg.0\n ldarg.1\n call 0x0a000021\n ret", 1);
    accepts("ldarg.0\n newobj 0x0a000010\n ret", 1);
    refuses("ldarg.0\n call 0x0a000021\n ret", 1, "takes 2 values");
    refuses("call 0x2b000001\n ret", 0, "signature is not known");
}

static void code_must_not_go_on_beyond_its_end(void **state)
{
    (void)state;
    refuses("nop", 0, "beyond its end");
    refuses("ret\n nop", 0, "beyond its end");
    refuses("ldarg.0\n brtrue.s A\n ret\n A: ldarg.0\n brfalse.s A", 0, "beyond its end");
    accepts("A: br.s A", 0);
    accepts("ldnull\n throw", 0);
}

static void code_that_is_never_reached_has_no_height(void **state)
{
    (void)state;
    accepts("ret\n pop\n pop\n ret", 0);
    refuses("ret\n ldarg.s 9\n ret", 0, "argument 9");
}

static void variables_must_exist(void **state)
{
    (void)state;
    refuses("ldarg.2\n pop\n ret", 0, "argument 2");
    refuses("ldloc.s 4\n pop\n ret", 0, "local 4");
    refuses("ldarga.s 2\n pop\n ret", 0, "argument 2");
    accepts("ldloca.s 3\n pop\n ldloc.3\n stloc.0\n ldarg.1\n starg.s 0\n ret", 0);
}

static const char *const caught = "A: nop\n leave.s D\n B: pop\n leave.s D\n C: nop\n D: ret\n"
                                  ".try A to B catch X handler B to C";

static void a_handler_is_entered_by_exceptions_alone(void **state)
{
    (void)state;
    accepts(caught, 0);
    refuses("A: nop\n B: pop\n leave.s D\n D: ret\n.try A to B catch X handler B to D", 0,
            "crosses the bounds");
    refuses("br.s B\n A: leave.s D\n B: pop\n leave.s D\n D: ret\n.try A to B catch X handler B to D",
            0, "crosses the bounds");
    refuses("A: leave.s D\n B: pop\n nop\n D: ret\n.try A to B catch X handler B to D", 0,
            "crosses the bounds");
}

static void a_try_block_is_entered_at_its_beginning_with_nothing_on_the_stack(void **state)
{
    (void)state;
    refuses("br.s M\n A: nop\n M: leave.s D\n B: pop\n leave.s D\n D: ret\n"
            ".try A to B catch X handler B to D",
            0, "crosses the bounds");
    refuses("ldarg.0\n A: leave.s D\n B: pop\n leave.s D\n D: ret\n"
            ".try A to B catch X handler B to D",
            0, "try block is entered with 1");
    refuses("A: br.s D\n B: pop\n leave.s D\n D: ret\n.try A to B catch X handler B to D", 0,
            "br.s crosses");
}

static void ways_out_of_blocks_are_their_own(void **state)
{
    (void)state;
    refuses("A: ret\n B: pop\n leave.s D\n D: ret\n.try A to B catch X handler B to D", 0,
            "ret within");
    /* from a catch handler or the handler of a filter into the middle of its own try block, as Visual
     * Basic's On Error Resume Next does */
    accepts(
        "A: nop\n M: leave.s D\n B: pop\n leave.s M\n D: ret\n.try A to B catch X handler B to D",
        0);
    accepts("A: nop\n M: leave.s D\n F: pop\n ldc.i4.1\n endfilter\n B: pop\n leave.s M\n D: ret\n"
            ".try A to F filter F handler B to D",
            0);
    refuses("A: nop\n M: leave.s D\n B: pop\n br.s M\n D: ret\n.try A to B catch X handler B to D",
            0, "crosses");
    refuses("A: nop\n M: leave.s D\n B: leave.s M\n D: ret\n.try A to B finally handler B to D", 0,
            "crosses");
    /* not into the middle of another try block, also one within its own */
    refuses("A: nop\n O: nop\n M: leave.s C\n N: pop\n leave.s C\n C: leave.s D\n B: pop\n leave.s "
            "M\n D: ret\n"
            ".try O to N catch X handler N to C\n.try A to B catch X handler B to D",
            0, "crosses");
    accepts("A: nop\n O: nop\n M: leave.s C\n N: pop\n leave.s C\n C: leave.s D\n B: pop\n leave.s "
            "O\n D: ret\n"
            ".try O to N catch X handler N to C\n.try A to B catch X handler B to D",
            0);
    refuses("leave.s D\n D: ret", 0, "outside of any block");
    accepts("A: leave.s D\n B: endfinally\n D: ret\n.try A to B finally handler B to D", 0);
    accepts("A: leave.s D\n B: endfault\n D: ret\n.try A to B fault handler B to D", 0);
    refuses("A: leave.s D\n B: leave.s D\n D: ret\n.try A to B finally handler B to D", 0,
            "leave.s crosses");
    refuses("endfinally", 0, "endfinally outside");
    refuses("A: leave.s D\n B: pop\n endfinally\n D: ret\n.try A to B catch X handler B to D", 0,
            "endfinally outside");
    refuses("rethrow", 0, "rethrow outside");
    accepts("A: leave.s D\n B: pop\n rethrow\n D: ret\n.try A to B catch X handler B to D", 0);
}

static void a_filter_ends_with_a_verdict_before_its_handler(void **state)
{
    (void)state;
    accepts("A: leave.s D\n F: pop\n ldc.i4.1\n endfilter\n B: pop\n leave.s D\n D: ret\n"
            ".try A to F filter F handler B to D",
            0);
    refuses("A: leave.s D\n F: pop\n ldc.i4.1\n endfilter\n nop\n B: pop\n leave.s D\n D: ret\n"
            ".try A to F filter F handler B to D",
            0, "endfilter that does not end");
    refuses("A: leave.s D\n F: pop\n endfilter\n B: pop\n leave.s D\n D: ret\n"
            ".try A to F filter F handler B to D",
            0, "endfilter takes 1");
    refuses("A: leave.s D\n F: pop\n G: leave.s I\n H: pop\n leave.s I\n I: ldc.i4.1\n endfilter\n"
            "B: pop\n leave.s D\n D: ret\n"
            ".try G to H catch X handler H to I\n.try A to F filter F handler B to D",
            0, "a try block within a filter");
}

static void clauses_are_nested_inner_ones_first(void **state)
{
    (void)state;
    accepts("A: nop\n B: leave.s E\n D: endfinally\n E: leave.s H\n G: endfinally\n H: ret\n"
            ".try B to D finally handler D to E\n.try A to G finally handler G to H",
            0);
    refuses("A: nop\n B: leave.s E\n D: endfinally\n E: leave.s H\n G: endfinally\n H: ret\n"
            ".try A to G finally handler G to H\n.try B to D finally handler D to E",
            0, "outer clause before");
    refuses("A: nop\n B: leave.s H\n D: leave.s H\n E: endfinally\n G: endfinally\n H: ret\n"
            ".try A to D finally handler E to G\n.try B to E finally handler G to H",
            0, "not nested");
}

static void prefixes_belong_to_some_instructions_only(void **state)
{
    (void)state;
    accepts("ldarg.0\n volatile. ldind.i4\n ret", 1);
    refuses("ldarg.0\n volatile. conv.i4\n ret", 1, "volatile. before conv.i4");
    accepts("tail. call 0x0a000000\n ret", 0);
    refuses("tail. call 0x0a000000\n nop\n ret", 0, "tail. before call");
    accepts("ldarg.0\n tail. call 0x0a000011\n ret", 1);
    refuses("ldarg.0\n tail. call 0x0a000000\n ret", 1, "tail. call leaves values");
    refuses("ldarg.0\n readonly. ldind.i4\n ret", 1, "readonly. before");
    accepts("volatile. ldsfld 0x04000001\n ret", 1);
    refuses("unaligned. 1\n ldsfld 0x04000001\n ret", 1, "unaligned. before ldsfld");
}

static void a_prefix_stands_once_before_an_instruction(void **state)
{
    (void)state;
    accepts("ldarg.0\n volatile.\n unaligned. 1\n ldind.i4\n ret", 1);
    refuses("tail.\n tail.\n call 0x0a000000\n ret", 0, "tail. twice");
    refuses("ldarg.0\n volatile.\n unaligned. 1\n volatile.\n ldind.i4\n ret", 1,
            "volatile. twice");
}

static void the_stack_is_as_deep_as_it_gets(void **state)
{
    struct sxs_il_body  *body = fixture_body("ldarg.0\n ldarg.0\n ldarg.0\n add\n add\n ret");
    struct sxs_il_method method = fixture_method(1);
    (void)state;
    assert_int_equal(sxs_il_check(body, &method, NULL), 0);
    assert_int_equal(body->max_stack, 3);
    sxs_il_free(body);
    body = fixture_body(caught); /* a handler is entered with one value, whatever else there is */
    method.returns = 0;
    assert_int_equal(sxs_il_check(body, &method, NULL), 0);
    assert_int_equal(body->max_stack, 1);
    sxs_il_free(body);
}

static void nothing_goes_behind_a_prefix(void **state)
{
    (void)state;
    refuses("br.s A\n volatile.\n A: ldsfld 1\n pop\n ret", 0, "between a prefix");
    refuses("ldarg.0\n switch (A)\n volatile.\n A: ldsfld 1\n pop\n ret", 0, "between a prefix");
    refuses("volatile.\n A: ldsfld 1\n pop\n leave.s D\n B: pop\n leave.s D\n D: ret\n"
            ".try A to B catch X handler B to D", 0, "divides a prefix");
    accepts("ldarg.0\n unaligned. 2\n ldind.i4\n ret", 1);
    refuses("ldarg.0\n unaligned. 3\n ldind.i4\n ret", 1, "1, 2 or 4");
}

static void check_refuses(struct sxs_il_body *body, const char *why)
{
    struct sxs_il_method method = fixture_method(0);
    struct sxs_il_error  error = {0};
    assert_int_equal(sxs_il_check(body, &method, &error), SXS_IL_EINVALID);
    assert_non_null(strstr(error.text, why));
    sxs_il_free(body);
}

static void operands_must_fit(void **state)
{
    static const struct {
        enum sxs_il_opcode opcode;
        int64_t            i;
    } wrong[] = {{SXS_IL_LDC_I4_S, 128}, {SXS_IL_LDC_I4, INT64_C(1) << 31}, {SXS_IL_LDARG_S, -1},
                 {SXS_IL_LDARG_S, 256}, {SXS_IL_LDARG, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sxs_il_body *body = fixture_body("pop\n ret");
        sxs_il_insert_before(body, body->first, sxs_il_int(body, wrong[i].opcode, wrong[i].i));
        check_refuses(body, "cannot hold");
    }
}

static void what_is_not_in_the_list_is_not_gone_to(void **state)
{
    struct sxs_il_body   *body = fixture_body("ret");
    struct sxs_il_clause *c;
    (void)state;
    sxs_il_insert_before(body, body->first, sxs_il_branch(body, SXS_IL_BR, sxs_il_insn(body, SXS_IL_NOP)));
    check_refuses(body, "not in the code");
    body = fixture_body("ret");
    sxs_il_insert_before(body, body->first, sxs_il_branch(body, SXS_IL_BR, NULL));
    check_refuses(body, "goes nowhere");
    body = fixture_body("ret");
    sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_SWITCH));
    check_refuses(body, "without targets");
    body = fixture_body("nop\n nop\n ret");
    c = sxs_il_add_clause(body, 0);
    c->try_first = c->try_last = body->first;
    c->handler_first = c->handler_last = sxs_il_insn(body, SXS_IL_ENDFINALLY);
    c->kind = SXS_IL_FINALLY;
    check_refuses(body, "not in the code");
    body = fixture_body("nop\n nop\n ret");
    c = sxs_il_add_clause(body, 0);
    c->kind = 3;
    check_refuses(body, "no such kind");
    check_refuses(sxs_il_new(), "no code");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heights_are_followed_along_every_way),
        cmocka_unit_test(calls_do_what_their_signatures_say),
        cmocka_unit_test(code_must_not_go_on_beyond_its_end),
        cmocka_unit_test(code_that_is_never_reached_has_no_height),
        cmocka_unit_test(variables_must_exist),
        cmocka_unit_test(a_handler_is_entered_by_exceptions_alone),
        cmocka_unit_test(a_try_block_is_entered_at_its_beginning_with_nothing_on_the_stack),
        cmocka_unit_test(ways_out_of_blocks_are_their_own),
        cmocka_unit_test(a_filter_ends_with_a_verdict_before_its_handler),
        cmocka_unit_test(clauses_are_nested_inner_ones_first),
        cmocka_unit_test(prefixes_belong_to_some_instructions_only),
        cmocka_unit_test(a_prefix_stands_once_before_an_instruction),
        cmocka_unit_test(the_stack_is_as_deep_as_it_gets),
        cmocka_unit_test(nothing_goes_behind_a_prefix),
        cmocka_unit_test(operands_must_fit),
        cmocka_unit_test(what_is_not_in_the_list_is_not_gone_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
