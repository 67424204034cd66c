/* SPDX-License-Identifier: MIT */
/* Code without a header, offsets of unfinished bodies, and the forms of branches. */
#include "tests/unit/il_fixture.h"

#include <stdio.h>

static void code_is_read_without_a_header(void **state)
{
    static const uint8_t code[] = {0x02, 0x2d, 0x01, 0x00, 0x2a}, bad[] = {0x2b, 0x7f}, unknown[] = {0x24};
    struct sxs_il_body  *body = sxs_il_new();
    struct sxs_il_error  error;
    (void)state;
    assert_int_equal(sxs_il_read_code(body, code, sizeof(code), &error), 0);
    assert_string_equal(fixture_text(body), "ldarg.0; brtrue.s   IL_0004; nop; ret");
    assert_int_equal(body->n_clauses, 0);
    assert_int_equal(sxs_il_read_code(body, code, 0, &error), 0);
    assert_null(body->first);
    assert_int_equal(sxs_il_read_code(body, bad, sizeof(bad), &error), SXS_IL_EMALFORMED);
    assert_int_equal(sxs_il_read_code(body, unknown, sizeof(unknown), &error), SXS_IL_EMALFORMED);
    assert_null(body->first);
    sxs_il_free(body);
}

static void branches_keep_their_forms_when_asked(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        struct sxs_il_body *body = fixture_body("nop\n ret");
        struct sxs_il_insn *ret = body->last;
        size_t              size;
        (void)state;
        body->keep_forms = (uint8_t)keep;
        sxs_il_insert_before(body, ret, sxs_il_branch(body, SXS_IL_BR, ret));
        sxs_il_insert_before(body, ret, sxs_il_branch(body, SXS_IL_BR_S, ret));
        fixture_write(body, 0, &size);
        assert_string_equal(fixture_text(body), keep ? "nop; br         IL_0008; br.s       IL_0008; ret"
                                                     : "nop; br.s       IL_0005; br.s       IL_0005; ret");
        sxs_il_free(body);
    }
}

static void a_short_branch_that_does_not_reach_is_long_in_any_case(void **state)
{
    struct sxs_il_body *body = fixture_body("nop\n ret");
    struct sxs_il_insn *branch = sxs_il_branch(body, SXS_IL_BR_S, body->last);
    size_t              size;
    (void)state;
    body->keep_forms = 1;
    sxs_il_insert_before(body, body->first, branch);
    for (int n = 0; n < 126; n++)
        sxs_il_insert_before(body, body->last, sxs_il_insn(body, SXS_IL_NOP));
    sxs_il_offsets(body);
    assert_int_equal(body->last->offset, 2 + 127);
    assert_int_equal(sxs_il_length(branch), 2);
    sxs_il_insert_before(body, body->last, sxs_il_insn(body, SXS_IL_NOP));
    sxs_il_offsets(body);
    assert_int_equal(body->last->offset, 5 + 128);
    assert_int_equal(sxs_il_length(branch), 5);
    fixture_write(body, 0, &size);
    assert_int_equal(body->last->offset, 5 + 128);
    sxs_il_free(body);
}

static void unfinished_bodies_have_offsets(void **state)
{
    struct sxs_il_body *body = fixture_body("nop\n ret");
    struct sxs_il_insn *s = sxs_il_switch(body, 2);
    (void)state;
    sxs_il_insert_before(body, body->last, s); /* its targets are NULL */
    sxs_il_insert_before(body, body->last, sxs_il_branch(body, SXS_IL_BR, NULL));
    s = sxs_il_insn(body, SXS_IL_SWITCH); /* without a table */
    sxs_il_insert_before(body, body->last, s);
    sxs_il_offsets(body);
    assert_int_equal(s->offset, 1 + 13 + 2);
    assert_int_equal(sxs_il_length(s), 5);
    assert_int_equal(body->last->offset, 1 + 13 + 2 + 5);
    body->first->offset = 77; /* nothing was changed: the offsets are not computed again */
    sxs_il_offsets(body);
    assert_int_equal(body->first->offset, 77);
    sxs_il_set_changed(body);
    sxs_il_offsets(body);
    assert_int_equal(body->first->offset, 0);
    sxs_il_free(body);
}

static void an_opcode_without_a_meaning_is_refused(void **state)
{
    struct sxs_il_body  *body = fixture_body("nop\n ret");
    struct sxs_il_method method = fixture_method(0);
    struct sxs_il_error  error;
    (void)state;
    body->first->opcode = 0x24;
    sxs_il_set_changed(body);
    assert_int_equal(sxs_il_check(body, &method, &error), SXS_IL_EINVALID);
    assert_string_equal(error.text, "no such opcode: 0x024");
    sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_TAILCALL));
    assert_int_equal(sxs_il_check(body, &method, &error), SXS_IL_EINVALID);
    assert_string_equal(error.text, "tail. before an unused opcode");
    sxs_il_free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_read_without_a_header),
        cmocka_unit_test(branches_keep_their_forms_when_asked),
        cmocka_unit_test(a_short_branch_that_does_not_reach_is_long_in_any_case),
        cmocka_unit_test(unfinished_bodies_have_offsets),
        cmocka_unit_test(an_opcode_without_a_meaning_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
