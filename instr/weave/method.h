/* SPDX-License-Identifier: MIT */
/**
 * method.h - a method of a runtime, its body and what the IL library must know of it.
 *
 * Everything belongs to one thread at a time; use one again and again, it keeps its memory.
 */
#ifndef SXS_REWRITE_METHOD_H
#define SXS_REWRITE_METHOD_H

#include "include/sxs_il.h"
#include "instr/weave/tokens.h"

struct sxs_method {
    struct sxs_tokens    tokens;
    mdToken              token, owner; /* methodDef, typeDef */
    uint32_t             flags, impl;
    const uint8_t       *sig; /* in the module's metadata */
    size_t               sig_size;
    struct sxs_il_body  *body;
    struct sxs_il_method il;
    uint16_t             result_local; /* of the result's type, once made */
    uint8_t              has_result_local;
    uint8_t              has_this;
    struct sxs_il_error  error;
    const char          *file; /* of the rule at work, borrowed; NULL: none in particular */
    uint32_t             line, column; /* in it */
    char                 why[1024]; /* what went wrong, one line */
};

/**
 * sxs_method_open - read method @token of @module and check its body.
 * Returns 0, or -1 with m->why: abstract, native, without a body, not valid. In both cases
 * sxs_method_close() follows.
 */
int sxs_method_open(struct sxs_method *m, sxs_module module, mdToken token);

/** sxs_method_close - its metadata is let go; returns what the runtime says of new tokens. */
HRESULT sxs_method_close(struct sxs_method *m);

/** Its memory, too. */
void sxs_method_free(struct sxs_method *m);

/** sxs_method_add_locals - @n locals more, of the types in @types, as in signatures. Returns the first's number,
 *  -1: failed (m->why). */
int sxs_method_add_locals(struct sxs_method *m, const uint8_t *types, size_t size, unsigned n);

/** sxs_method_result - a local of the result's type; 0 when it returns none. -1: failed (m->why). */
int sxs_method_result(struct sxs_method *m);

/** sxs_method_write - checked, as bytes that are the body's. Returns 0, or -1 (m->why): nothing to hand on. */
int sxs_method_write(struct sxs_method *m, const uint8_t **bytes, size_t *size);

/** sxs_method_set_why - write m->why. Callers that return a status use sxs_method_fail(). */
void sxs_method_set_why(struct sxs_method *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_method_fail(m, fmt, ...) - write m->why; the value is -1. A macro, so that an analyzer of the calling
 *  function sees that it is an error. */
#define sxs_method_fail(m, ...) (sxs_method_set_why(m, __VA_ARGS__), -1)

#endif
