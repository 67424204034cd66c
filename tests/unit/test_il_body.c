/* SPDX-License-Identifier: MIT */
/* Bodies read, changed and written. */
#include "tests/unit/il_fixture.h"

#include "instr/il/internal.h"

static void read_ok(struct sxs_il_body *body, const uint8_t *bytes, size_t size)
{
    struct sxs_il_error error = {0};
    if (sxs_il_read(body, bytes, size, &error) != 0)
        fail_msg("read: %s", error.text);
}

static void stays_as_it_was(const uint8_t *bytes, size_t size)
{
    struct sxs_il_body *body = sxs_il_new();
    const uint8_t      *written;
    size_t              n;
    read_ok(body, bytes, size);
    assert_int_equal(sxs_il_write(body, &written, &n, NULL), 0);
    assert_int_equal(n, size);
    assert_memory_equal(written, bytes, size);
    sxs_il_free(body);
}

#define STAYS(...)                              \
    do {                                        \
        const uint8_t bytes[] = {__VA_ARGS__};  \
        stays_as_it_was(bytes, sizeof(bytes));  \
    } while (0)

static void what_was_read_is_written_in_the_same_form(void **state)
{
    (void)state;
    STAYS(0x06, 0x2a);                                                       /* tiny: ret */
    STAYS(0x03, 0x30, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a);                   /* fat, needlessly */
    STAYS(0x13, 0x30, 8, 0, 1, 0, 0, 0, 1, 0, 0, 0x11, 0x2a);                /* locals, init */
    STAYS(0x1a, 0x38, 0, 0, 0, 0, 0x2a);                                     /* a br that could be short */
    STAYS(0x0e, 0x2b, 0x00, 0x2a);                                           /* br.s */
    STAYS(0x2a, 0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a);                         /* switch */
    /* small section: nop, leave.s, endfinally, ret */
    STAYS(0x0b, 0x30, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x00, 0xde, 0x01, 0xdc, 0x2a, 0, 0, 0, 0x01, 0x10, 0, 0,
          2, 0, 0, 0, 3, 3, 0, 1, 0, 0, 0, 0);
    /* the same with a fat section */
    STAYS(0x0b, 0x30, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x00, 0xde, 0x01, 0xdc, 0x2a, 0, 0, 0, 0x41, 0x1c, 0, 0,
          2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
}

static void refused(const uint8_t *bytes, size_t size)
{
    struct sxs_il_body *body = sxs_il_new();
    struct sxs_il_error error = {0};
    assert_int_equal(sxs_il_read(body, bytes, size, &error), SXS_IL_EMALFORMED);
    assert_true(error.text[0]);
    sxs_il_free(body);
}

#define REFUSED(...)                           \
    do {                                       \
        const uint8_t bytes[] = {__VA_ARGS__}; \
        refused(bytes, sizeof(bytes));         \
    } while (0)

static void what_is_no_body_is_refused(void **state)
{
    (void)state;
    refused(NULL, 0);
    REFUSED(0x02);                                       /* no code */
    REFUSED(0x0a, 0x2a);                                 /* code beyond the bytes */
    REFUSED(0x01, 0x2a);                                 /* no such format */
    REFUSED(0x03, 0x30, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x2a); /* fat, code beyond the bytes */
    REFUSED(0x03, 0x20, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a); /* a header of two words */
    REFUSED(0x06, 0x24);                                 /* an opcode there is not */
    REFUSED(0x0a, 0xfe, 0x30);                           /* another */
    REFUSED(0x06, 0xfe);                                 /* half an opcode */
    REFUSED(0x0a, 0x20, 0x00);                           /* half an operand */
    REFUSED(0x0e, 0x2b, 0x01, 0x2a);                     /* a branch beyond the end */
    REFUSED(0x0e, 0x2b, 0xff, 0x2a);                     /* into itself */
    REFUSED(0x1a, 0x45, 0xff, 0xff, 0xff, 0x3f, 0x2a);   /* a switch of a billion targets */
    REFUSED(0x0b, 0x30, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a); /* sections that are not there */
    REFUSED(0x0b, 0x30, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a, 0, 0, 0, 0x01, 0x10, 0, 0, 2, 0, 0, 0, 9, 0, 0, 1,
            0, 0, 0, 0); /* a try block beyond the code */
}

static void two_sections_become_one(void **state)
{
    static const uint8_t bytes[] = {
        0x0b, 0x30, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x00, 0xde, 0x01, 0xdc, 0x2a, 0, 0, 0,
        0x81, 0x10, 0, 0, 2, 0, 0, 0, 3, 3, 0, 1, 0, 0, 0, 0,
        0x01, 0x10, 0, 0, 4, 0, 0, 0, 3, 3, 0, 1, 0, 0, 0, 0};
    struct sxs_il_body *body = sxs_il_new();
    const uint8_t      *written;
    size_t              size;
    (void)state;
    read_ok(body, bytes, sizeof(bytes));
    assert_int_equal(body->n_clauses, 2);
    assert_int_equal(sxs_il_write(body, &written, &size, NULL), 0);
    assert_int_equal(size, 20 + 4 + 24);
    assert_int_equal(written[21], 4 + 24);
    sxs_il_free(body);
}

static void old_ones_stay_themselves(void **state)
{
    static const uint8_t bytes[] = {0x0e, 0x02, 0x17, 0x2a}; /* ldarg.0; ldc.i4.1; ret */
    struct sxs_il_body  *body = sxs_il_new();
    struct sxs_il_insn  *second, *new;
    struct sxs_il_map    map[4];
    size_t               size;
    (void)state;
    read_ok(body, bytes, sizeof(bytes));
    second = body->first->next;
    new = sxs_il_insert_before(body, second, sxs_il_insn(body, SXS_IL_ADD));
    sxs_il_insert_before(body, new, sxs_il_insn(body, SXS_IL_LDARG_1));
    sxs_il_replace(body, second, sxs_il_insn(body, SXS_IL_NOP));
    assert_string_equal(fixture_text(body), "ldarg.0; ldarg.1; add; nop; ret");
    assert_int_equal(new->old_offset, SXS_IL_NONE);
    assert_int_equal(body->old[1].opcode, SXS_IL_LDC_I4_1);
    assert_true(body->old[1].removed);
    assert_ptr_equal(sxs_il_target(&body->old[1]), body->last->prev);
    fixture_write(body, 1, &size);
    assert_int_equal(sxs_il_map(body, map, 4), 3);
    assert_int_equal(map[1].old_offset, 1);
    assert_int_equal(map[1].new_offset, 3);
    assert_int_equal(map[2].new_offset, 4);
    sxs_il_free(body);
}

static void nothing_is_written_unchecked(void **state)
{
    struct sxs_il_body *body = fixture_body("ret");
    const uint8_t      *bytes;
    size_t              size;
    (void)state;
    assert_int_equal(sxs_il_write(body, &bytes, &size, NULL), SXS_IL_EUNCHECKED);
    fixture_write(body, 0, &size);
    sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
    assert_int_equal(sxs_il_write(body, &bytes, &size, NULL), SXS_IL_EUNCHECKED);
    sxs_il_free(body);
}

static void branches_stay_with_what_they_meant(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue.s A\n nop\n A: nop\n ret");
    struct sxs_il_insn *branch = body->first->next, *a = branch->next->next;
    (void)state;
    sxs_il_insert_before(body, a, sxs_il_insn(body, SXS_IL_BREAK));
    assert_ptr_equal(sxs_il_target(branch->target), a); /* not what is put before it */
    sxs_il_move_targets(body, a, a->prev, 1);
    assert_ptr_equal(sxs_il_target(branch->target), a->prev);
    sxs_il_remove(body, a->prev);
    assert_ptr_equal(sxs_il_target(branch->target), a); /* what follows */
    sxs_il_free(body);
}

static void prefixes_are_not_torn_off(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n volatile. ldind.i4\n ret");
    (void)state;
    sxs_il_insert_before(body, body->last->prev, sxs_il_insn(body, SXS_IL_NOP));
    assert_string_equal(fixture_text(body), "ldarg.0; nop; volatile.; ldind.i4; ret");
    sxs_il_free(body);
}

static void branches_are_as_short_as_they_can_be(void **state)
{
    struct sxs_il_body *body = fixture_body("ldarg.0\n brtrue A\n A: ret");
    const uint8_t      *bytes;
    size_t              size;
    (void)state;
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(size, 1 + 4);
    assert_int_equal(bytes[2], SXS_IL_BRTRUE_S);
    for (int i = 0; i < 127; i++)
        sxs_il_insert_after(body, body->first->next, sxs_il_insn(body, SXS_IL_NOP));
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(size, 12 + 1 + 2 + 127 + 1); /* the header is a fat one now */
    assert_int_equal(bytes[13], SXS_IL_BRTRUE_S);
    assert_int_equal(bytes[14], 127);
    sxs_il_insert_after(body, body->first->next, sxs_il_insn(body, SXS_IL_NOP));
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(size, 12 + 1 + 5 + 128 + 1);
    assert_int_equal(bytes[13], SXS_IL_BRTRUE);
    sxs_il_remove(body, body->first->next->next);
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(bytes[13], SXS_IL_BRTRUE_S); /* and short again */
    sxs_il_free(body);
}

static void backward_branches_and_leave_grow_too(void **state)
{
    struct sxs_il_body *body = fixture_body("A: nop\n leave.s D\n B: pop\n leave.s D\n D: ldarg.0\n"
                                            "brtrue.s A\n ret\n.try A to B catch X handler B to D");
    const uint8_t      *bytes;
    size_t              size;
    (void)state;
    for (int i = 0; i < 200; i++) {
        sxs_il_insert_after(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
        sxs_il_insert_before(body, sxs_il_end_target(body->clauses[0].handler_last), sxs_il_insn(body, SXS_IL_NOP));
    }
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(bytes[12 + 201], SXS_IL_LEAVE);
    assert_int_equal(bytes[12 + 201 + 5 + 1 + 200], SXS_IL_LEAVE_S);
    assert_int_equal(bytes[12 + 201 + 5 + 1 + 200 + 2 + 1], SXS_IL_BRTRUE);
    sxs_il_free(body);
}

static void a_clause_too_long_for_a_small_section_gets_a_fat_one(void **state)
{
    struct sxs_il_body *body = fixture_body("A: leave.s D\n B: pop\n leave.s D\n D: ret\n"
                                            ".try A to B catch X handler B to D");
    const uint8_t      *bytes;
    size_t              size;
    (void)state;
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(bytes[size - 16], 0x01);
    for (int i = 0; i < 260; i++)
        sxs_il_insert_before(body, body->first, sxs_il_insn(body, SXS_IL_NOP));
    body->clauses[0].try_first = body->first;
    sxs_il_set_changed(body);
    bytes = fixture_write(body, 0, &size);
    assert_int_equal(bytes[size - 28], 0x41);
    sxs_il_free(body);
}

static void a_method_is_wrapped(void **state)
{
    struct sxs_il_body  *body = fixture_body("ldarg.0\n brtrue.s A\n ldc.i4.0\n ret\n A: ldc.i4.1\n ret");
    struct sxs_il_method method = fixture_method(1);
    struct sxs_il_wrap   wrap;
    size_t               size;
    (void)state;
    assert_int_equal(sxs_il_wrap(body, &method, 3, 0x01000001, &wrap, NULL), 0);
    sxs_il_insert_before(body, wrap.body, sxs_il_insn(body, SXS_IL_BREAK));
    fixture_write(body, 1, &size);
    assert_string_equal(fixture_text(body),
                        "break; ldarg.0; brtrue.s   IL_0008; ldc.i4.0; stloc.3; leave.s    IL_0010; "
                        "ldc.i4.1; stloc.3; leave.s    IL_0010; nop; pop; rethrow; nop; ldloc.3; "
                        "ret");
    assert_int_equal(wrap.body->height, 0);
    assert_int_equal(wrap.handler->height, 1);
    assert_int_equal(wrap.exit->height, 0);
    sxs_il_free(body);
}

static void a_method_that_never_returns_has_no_way_out(void **state)
{
    struct sxs_il_body  *body = fixture_body("ldnull\n throw");
    struct sxs_il_method method = fixture_method(0);
    struct sxs_il_insn  *exit;
    size_t               size;
    (void)state;
    assert_int_equal(sxs_il_single_return(body, &method, 0, &exit, NULL), 0);
    assert_null(exit);
    fixture_write(body, 0, &size);
    sxs_il_free(body);
}

static void tail_calls_and_jmp_become_calls(void **state)
{
    struct sxs_il_body  *body = fixture_body("ldarg.0\n brtrue.s A\n ldarg.0\n"
                                             "tail. call 0x0a000011\n ret\n A: jmp 0x0a000021");
    struct sxs_il_method method = fixture_method(1);
    struct sxs_il_insn  *exit;
    size_t               size;
    (void)state;
    assert_int_equal(sxs_il_single_return(body, &method, 0, &exit, NULL), 0);
    fixture_write(body, 1, &size);
    assert_string_equal(fixture_text(body),
                        "ldarg.0; brtrue.s   IL_000c; ldarg.0; call       0x0a000011; stloc.0; "
                        "br.s       IL_0016; ldarg.0; ldarg.1; call       0x0a000021; stloc.0; "
                        "br.s       IL_0016; nop; ldloc.0; ret");
    sxs_il_free(body);
}

static void a_body_is_used_again_and_again(void **state)
{
    static const uint8_t bytes[] = {0x0e, 0x02, 0x17, 0x2a};
    struct sxs_il_body  *body = sxs_il_new();
    const uint8_t       *written, *first = NULL;
    size_t               size;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        read_ok(body, bytes, sizeof(bytes));
        assert_int_equal(sxs_il_write(body, &written, &size, NULL), 0);
        if (!first)
            first = written;
        assert_ptr_equal(written, first); /* the same memory */
    }
    sxs_il_free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_is_written_in_the_same_form),
        cmocka_unit_test(what_is_no_body_is_refused),
        cmocka_unit_test(two_sections_become_one),
        cmocka_unit_test(old_ones_stay_themselves),
        cmocka_unit_test(nothing_is_written_unchecked),
        cmocka_unit_test(branches_stay_with_what_they_meant),
        cmocka_unit_test(prefixes_are_not_torn_off),
        cmocka_unit_test(branches_are_as_short_as_they_can_be),
        cmocka_unit_test(backward_branches_and_leave_grow_too),
        cmocka_unit_test(a_clause_too_long_for_a_small_section_gets_a_fat_one),
        cmocka_unit_test(a_method_is_wrapped),
        cmocka_unit_test(a_method_that_never_returns_has_no_way_out),
        cmocka_unit_test(tail_calls_and_jmp_become_calls),
        cmocka_unit_test(a_body_is_used_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
