/* SPDX-License-Identifier: MIT */
/* Code put into bodies in several places: fragments, ways out, locals, what is old and whose is new. */
#include "tests/unit/il_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static struct sxs_il_fragment fragment_of(struct sxs_il_body *body, const char *text)
{
    struct sxs_il_source   source = {text, 0, &fixture_tokens};
    struct sxs_il_fragment f;
    struct sxs_il_error    error;
    if (sxs_il_assemble(body, &source, &f, &error) != 0)
        fail_msg("%s", error.text);
    return f;
}

static void a_fragment_keeps_its_prefixes(void **state)
{
    struct sxs_il_body    *body = fixture_body("ldarg.0\n volatile. ldind.i4\n pop\n ret");
    struct sxs_il_fragment f = fragment_of(body, "ldarg.0\n unaligned. 1 ldind.i4\n pop");
    size_t                 size;
    (void)state;
    assert_int_equal(sxs_il_insert_fragment(body, body->first->next->next, &f), 0);
    fixture_write(body, 0, &size);
    assert_string_equal(fixture_text(body), "ldarg.0; ldarg.0; unaligned. 1; ldind.i4; pop; "
                                            "volatile.; ldind.i4; pop; ret");
    sxs_il_free(body);
}

static void a_fragments_end_is_not_behind_the_next_fragment(void **state)
{
    struct sxs_il_body    *body = fixture_body("ldarg.0\n volatile. ldind.i4\n pop\n ret");
    struct sxs_il_fragment f = fragment_of(body, "ldarg.1\n brtrue.s END\n nop\n END:");
    size_t                 size;
    (void)state;
    assert_int_equal(sxs_il_insert_fragment(body, body->first->next->next, &f), 0);
    fixture_write(body, 0, &size);
    assert_string_equal(fixture_text(body), "ldarg.0; ldarg.1; brtrue.s   IL_0005; nop; nop; "
                                            "volatile.; ldind.i4; pop; ret");
    f = fragment_of(body, "break");
    assert_int_equal(sxs_il_insert_fragment(body, body->last->prev->prev, &f), 0);
    fixture_write(body, 0, &size);
    assert_string_equal(fixture_text(body), "ldarg.0; ldarg.1; brtrue.s   IL_0005; nop; nop; break; "
                                            "volatile.; ldind.i4; pop; ret");
    sxs_il_free(body);
}

static void a_fragment_is_copied_with_its_branches_and_clauses(void **state)
{
    struct sxs_il_body    *body = fixture_body("ret");
    struct sxs_il_fragment f = fragment_of(body, "A: ldarg.0\n switch (A, C)\n leave.s D\n C: pop\n leave.s D\n"
                                                 "D:\n .try A to C catch X handler C to D");
    struct sxs_il_fragment copy;
    size_t                 size;
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sxs_il_copy_fragment(body, &f, &copy), 0);
        copy.first->next->targets->targets[1] = copy.first; /* into a handler it must not */
        assert_int_equal(sxs_il_insert_fragment(body, body->last, &copy), 0);
    }
    assert_null(f.first->prev);
    fixture_write(body, 0, &size);
    assert_int_equal(body->n_clauses, 3);
    assert_string_equal(fixture_text(body),
                        "ldarg.0; switch     (IL_0000, IL_0000); leave.s    IL_0013; pop; leave.s    IL_0013; "
                        "nop; ldarg.0; switch     (IL_0014, IL_0014); leave.s    IL_0027; pop; "
                        "leave.s    IL_0027; nop; ldarg.0; switch     (IL_0028, IL_0028); "
                        "leave.s    IL_003b; pop; leave.s    IL_003b; nop; ret");
    sxs_il_free(body);
}

/* A break after the nop of every exit. */
static uint32_t break_at_exits(struct sxs_il_body *body)
{
    struct sxs_il_insn **exits;
    uint32_t             n;
    size_t               size;
    assert_int_equal(sxs_il_exits(body, &exits, &n, NULL), 0);
    for (uint32_t i = 0; i < n; i++)
        sxs_il_insert_after(body, exits[i], sxs_il_insn(body, SXS_IL_BREAK));
    fixture_write(body, 0, &size);
    return n;
}

static void every_way_out_goes_through_its_place(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue.s R\n ldarg.0\n switch (R, J)\n ret\n R: ret\n"
                                            "J: jmp 0x0a000000");
    (void)state;
    assert_int_equal(break_at_exits(body), 3);
    assert_string_equal(fixture_text(body),
                        "ldarg.0; brtrue.s   IL_0014; ldarg.0; switch     (IL_0014, IL_0017); "
                        "nop; break; ret; nop; break; ret; nop; break; jmp        0x0a000000");
    sxs_il_free(body);
}

static void a_tail_call_keeps_its_ret(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue.s R\n tail. call 0x0a000000\n R: ret\n"
                                            "nop\n ret");
    (void)state;
    assert_int_equal(break_at_exits(body), 3);
    assert_string_equal(fixture_text(body),
                        "ldarg.0; brtrue.s   IL_000d; nop; break; tail.; call       0x0a000000; ret; "
                        "nop; break; ret; nop; nop; break; ret");
    sxs_il_free(body);
}

static void locals_are_added_to_a_signature(void **state)
{
    static const uint8_t one[] = {0x07, 0x01, 0x08}, string[] = {0x0e}, none[] = {0x06, 0x08};
    uint8_t              out[300], many[200], more[400];
    uint16_t             first;
    (void)state;
    assert_int_equal(sxs_il_add_locals(NULL, 0, string, 1, 1, out, 300, &first), 3);
    assert_memory_equal(out, ((uint8_t[]){7, 1, 0x0e}), 3);
    assert_int_equal(first, 0);
    assert_int_equal(sxs_il_add_locals(one, 3, string, 1, 1, out, 300, &first), 4);
    assert_memory_equal(out, ((uint8_t[]){7, 2, 8, 0x0e}), 4);
    assert_int_equal(first, 1);
    memset(many, 8, sizeof(many));
    assert_int_equal(sxs_il_add_locals(one, 3, many, 200, 200, out, 300, NULL), 1 + 2 + 201);
    assert_memory_equal(out, ((uint8_t[]){7, 0x80, 201, 8, 8}), 5);
    assert_int_equal(sxs_il_add_locals(out, 204, many, 200, 200, more, 400, &first), 1 + 2 + 401 );
    assert_memory_equal(more, ((uint8_t[]){7, 0x81, 401 - 256, 8}), 4);
    assert_int_equal(first, 201);
    memset(out, 0xee, 5);
    assert_int_equal(sxs_il_add_locals(one, 3, string, 1, 1, out, 3, NULL), 4); /* cut */
    assert_int_equal(out[3], 0xee);
    assert_int_equal(sxs_il_add_locals(none, 2, string, 1, 1, out, 300, NULL), 0);
    assert_int_equal(sxs_il_add_locals(one, 3, string, 1, UINT16_MAX, out, 300, NULL), 0);
}

static void the_old_code_is_found_and_writers_are_known(void **state)
{
    static const uint8_t bytes[] = {0x12, 0x02, 0x17, 0x58, 0x2a}; /* ldarg.0; ldc.i4.1; add; ret */
    struct sxs_il_body  *body = sxs_il_new();
    struct sxs_il_insn  *second, *inserted;
    (void)state;
    assert_int_equal(sxs_il_read(body, bytes, sizeof(bytes), NULL), 0);
    second = sxs_il_old_at(body, 1);
    assert_int_equal(second->opcode, SXS_IL_LDC_I4_1);
    assert_null(sxs_il_old_at(body, 4));
    body->writer = 7;
    inserted = sxs_il_insert_before(body, second, sxs_il_insn(body, SXS_IL_NOP));
    sxs_il_remove(body, second);
    assert_int_equal(inserted->writer, 7);
    assert_int_equal(second->writer, 0);
    assert_null(sxs_il_old_next(body, inserted));
    assert_ptr_equal(sxs_il_old_next(body, &body->old[0]), second); /* removed or not */
    assert_ptr_equal(sxs_il_old_prev(body, &body->old[2]), second);
    assert_null(sxs_il_old_prev(body, &body->old[0]));
    assert_null(sxs_il_old_next(body, &body->old[3]));
    sxs_il_free(body);
}

static void what_was_removed_may_come_back(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue.s A\n nop\n A: break\n ret");
    struct sxs_il_insn *a = body->first->next->next->next;
    size_t              size;
    (void)state;
    sxs_il_remove(body, a);
    sxs_il_insert_before(body, body->first, a);
    fixture_write(body, 0, &size);
    assert_string_equal(fixture_text(body), "break; ldarg.0; brtrue.s   IL_0000; nop; ret");
    sxs_il_free(body);
}

static void code_put_before_a_target_may_skip_itself(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue.s A\n nop\n A: ret");
    struct sxs_il_insn *a = body->last, *entry;
    size_t              size;
    (void)state;
    entry = sxs_il_insert_before(body, a, sxs_il_ldarg(body, 1));
    sxs_il_insert_before(body, a, sxs_il_branch(body, SXS_IL_BRTRUE_S, a));
    sxs_il_insert_before(body, a, sxs_il_insn(body, SXS_IL_BREAK));
    sxs_il_move_targets(body, a, entry, 0);
    fixture_write(body, 0, &size);
    assert_string_equal(fixture_text(body), "ldarg.0; brtrue.s   IL_0004; nop; ldarg.1; "
                                            "brtrue.s   IL_0008; break; ret");
    sxs_il_free(body);
}

static void names_and_scopes_are_distinguished_from_arrays(void **state)
{
    struct sxs_il_body *body = sxs_il_new();
    (void)state;
    fragment_of(body, ".locals (int32[] a, class [m]B b, int32[0...,] c, class 'x y'[] d)");
    sxs_il_free(body);
}

static void many_labels_targets_and_locals(void **state)
{
    struct sxs_il_body    *body = sxs_il_new();
    struct sxs_il_fragment f;
    char                  *text = malloc(1 << 20), *p = text;
    (void)state;
    p += sprintf(p, ".locals (int32");
    for (int i = 0; i < 999; i++)
        p += sprintf(p, ", int32");
    p += sprintf(p, ")\nldarg.0\nswitch (L0");
    for (int i = 1; i < 9000; i++)
        p += sprintf(p, ",L%d", i);
    p += sprintf(p, ")\n");
    for (int i = 0; i < 9000; i++)
        p += sprintf(p, "L%d: nop\n", i);
    f = fragment_of(body, text);
    assert_int_equal(f.n_locals, 1000);
    assert_int_equal(f.locals_size, 1000);
    assert_int_equal(f.first->next->targets->n, 9000);
    sxs_il_free(body);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fragment_keeps_its_prefixes),
        cmocka_unit_test(a_fragments_end_is_not_behind_the_next_fragment),
        cmocka_unit_test(a_fragment_is_copied_with_its_branches_and_clauses),
        cmocka_unit_test(every_way_out_goes_through_its_place),
        cmocka_unit_test(a_tail_call_keeps_its_ret),
        cmocka_unit_test(locals_are_added_to_a_signature),
        cmocka_unit_test(the_old_code_is_found_and_writers_are_known),
        cmocka_unit_test(what_was_removed_may_come_back),
        cmocka_unit_test(code_put_before_a_target_may_skip_itself),
        cmocka_unit_test(names_and_scopes_are_distinguished_from_arrays),
        cmocka_unit_test(many_labels_targets_and_locals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
