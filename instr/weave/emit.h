/* SPDX-License-Identifier: MIT */
/** emit.h - adds short sequences of IL instructions to a body. All functions return 0, or -1 with
 *  m->why, unless they say otherwise. */
#ifndef SXS_INSTR_WEAVE_EMIT_H
#define SXS_INSTR_WEAVE_EMIT_H

#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** The place for new instructions: before @at, so that they are in the order of the calls. */
struct sxs_emit {
    struct sxs_method  *m;
    struct sxs_il_insn *at; /* NULL: at the end of the body */
};

/** sxs_emit - add @insn. NULL is taken for a failed allocation: an error. */
int sxs_emit(struct sxs_emit *e, struct sxs_il_insn *insn);

/** sxs_emit_pointer - emit IL that pushes @pointer as a constant. */
int sxs_emit_pointer(struct sxs_emit *e, const void *pointer);

/**
 * sxs_emit_callout - emit a `calli` of the native @function without a transition.
 * The arguments are on the evaluation stack.
 * @result:    enum sxs_element of the result: a primitive type, or void.
 * @arguments: enum sxs_element of each argument, @n of them: primitive types.
 */
int sxs_emit_callout(struct sxs_emit *e, uintptr_t function, uint8_t result,
                     const uint8_t *arguments, unsigned n);

/** sxs_emit_native - emit the same call with a transition. @function may block, and may call
 *  managed code. */
int sxs_emit_native(struct sxs_emit *e, uintptr_t function, uint8_t result,
                    const uint8_t *arguments, unsigned n);

/** sxs_emit_coded - write the token of a type in the compressed form that signatures use. Writes up
 *  to four bytes to @out. Returns their number. */
size_t sxs_emit_coded(uint8_t *out, uint32_t token);

#endif
