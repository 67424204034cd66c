/* SPDX-License-Identifier: MIT */
/** il_fixture.h - makes method bodies from text in ilasm's syntax. Tokens are numbers in the
 * text. */
#ifndef SXS_TESTS_IL_FIXTURE_H
#define SXS_TESTS_IL_FIXTURE_H

/* clang-format off: cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "instr/il/assemble.h"
#include "instr/il/text.h"
#include "include/sxs_il.h"

/* Token 0x0a0000PR pops P and pushes R. */
static int fixture_effect(void *context, enum sxs_il_opcode opcode, uint32_t token,
                          struct sxs_il_effect *e)
{
    (void)context;
    if (opcode == SXS_IL_NEWOBJ)
        *e = (struct sxs_il_effect){(uint16_t)(token >> 4 & 0xf), 1};
    else
        *e = (struct sxs_il_effect){(uint16_t)(token >> 4 & 0xf), (uint16_t)(token & 0xf)};
    return token >> 24 == 0x0a || token >> 24 == 0x11 ? 0 : -1;
}

static int fixture_type(void *context, const char *assembly, const char *name, uint32_t *token)
{
    (void)context;
    (void)assembly;
    (void)name;
    *token = 0x01000001;
    return 0;
}

static const struct sxs_il_tokens fixture_tokens = {.type = fixture_type};

/** Returns a description of a method with two arguments and four locals. */
static struct sxs_il_method fixture_method(int returns)
{
    return (struct sxs_il_method){
        .n_args = 2, .n_locals = 4, .returns = (uint8_t)returns, .effect = fixture_effect};
}

static inline struct sxs_il_body *fixture_body(const char *text)
{
    struct sxs_il_body    *body = sxs_il_new();
    struct sxs_il_source   source = {text, 0, &fixture_tokens};
    struct sxs_il_fragment fragment;
    struct sxs_il_error    error;
    assert_non_null(body);
    if (sxs_il_assemble(body, &source, &fragment, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(sxs_il_insert_fragment(body, NULL, &fragment), 0);
    return body;
}

/** Returns the text of a body without labels, with `;` between instructions; static buffer. */
static inline const char *fixture_text(const struct sxs_il_body *body)
{
    static char        bytes[8192];
    struct sxs_text    t = sxs_text_counted(bytes, sizeof(bytes));
    for (const struct sxs_il_insn *i = body->first; i; i = i->next) {
        if (i != body->first)
            sxs_text_put(&t, "; ");
        sxs_il_put_insn(&t, i, NULL);
    }
    return bytes;
}

/** Checks the body @text. Returns NULL if it is valid, else the message of the checker; static. */
static inline const char *fixture_check(const char *text, int returns)
{
    static struct sxs_il_error error;
    struct sxs_il_body        *body = fixture_body(text);
    struct sxs_il_method       method = fixture_method(returns);
    int                        err = sxs_il_check(body, &method, &error);
    assert_true(!err || error.text[0]);
    sxs_il_free(body);
    return err ? error.text : NULL;
}

/** Checks @body and writes it. Returns *size bytes, owned by @body. */
static inline const uint8_t *fixture_write(struct sxs_il_body *body, int returns, size_t *size)
{
    struct sxs_il_method method = fixture_method(returns);
    struct sxs_il_error  error = {0};
    const uint8_t       *bytes;
    if (sxs_il_check(body, &method, &error) != 0)
        fail_msg("check: %s", error.text);
    if (sxs_il_write(body, &bytes, size, &error) != 0)
        fail_msg("write: %s", error.text);
    return bytes;
}

#endif
