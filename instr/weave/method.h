/* SPDX-License-Identifier: MIT */
/**
 * method.h - reads the body of a runtime's method, holds it while it is changed, and writes it.
 *
 * A struct sxs_method belongs to one thread at a time. It can be used for several methods one after
 * the other; it keeps its memory.
 */
#ifndef SXS_INSTR_WEAVE_METHOD_H
#define SXS_INSTR_WEAVE_METHOD_H

#include "include/sxs_il.h"
#include "instr/weave/tokens.h"

struct sxs_method {
    struct sxs_tokens    tokens;
    mdToken              token, owner; /* methodDef; typeDef of the type that has the method */
    uint32_t             flags, impl;
    const uint8_t       *sig; /* borrowed from the module's metadata */
    size_t               sig_size;
    struct sxs_il_body  *body; /* owned */
    struct sxs_il_method il;
    uint16_t             result_local; /* local of the result's type, if has_result_local */
    uint8_t              has_result_local;
    uint8_t              has_this;
    struct sxs_il_error  error;
    const char *file;         /* file of the rule that is applied, borrowed; NULL: no single rule */
    uint32_t    line, column; /* in this file */
    char        why[1024];    /* the error, one line */
};

/**
 * sxs_method_open - read method @token of @module and check its body.
 * Returns 0, or -1 with m->why, for example when the method is abstract, native, without a body or
 * not valid. The caller calls sxs_method_close() in both cases.
 */
int sxs_method_open(struct sxs_method *m, sxs_module module, mdToken token);

/** sxs_method_close - release the module's metadata. Returns the result of sxs_tokens_close(): the
 *  runtime's answer when new tokens are applied. May be called again. */
HRESULT sxs_method_close(struct sxs_method *m);

/** sxs_method_free - free the body of @m. */
void sxs_method_free(struct sxs_method *m);

/**
 * sxs_method_add_locals - add @n local variables.
 * @types, @size: their types one after the other, encoded as in signatures.
 * Returns the number of the first new local, or -1 with m->why.
 */
int sxs_method_add_locals(struct sxs_method *m, const uint8_t *types, size_t size, unsigned n);

/** sxs_method_result - return the number of a local of the result's type, which is added once.
 *  Returns 0 when the method returns nothing, or -1 with m->why. */
int sxs_method_result(struct sxs_method *m);

/** sxs_method_write - check the body and encode it. *bytes and *size receive the code, which
 *  belongs to the body. Returns 0, or -1 with m->why: the body must not be given to the runtime. */
int sxs_method_write(struct sxs_method *m, const uint8_t **bytes, size_t *size);

/** sxs_method_set_why - set m->why. Functions that return a status use sxs_method_fail()
 *  instead. */
void sxs_method_set_why(struct sxs_method *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_method_fail(m, fmt, ...) - set m->why; the value is -1. This is a macro, so that a static
 *  analyzer sees in the calling function that the value is not 0. */
#define sxs_method_fail(m, ...) (sxs_method_set_why(m, __VA_ARGS__), -1)

#endif
