/* SPDX-License-Identifier: MIT */
/** emit.h - short runs of new instructions. All return 0, or -1 with m->why. */
#ifndef SXS_REWRITE_EMIT_H
#define SXS_REWRITE_EMIT_H

#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** Where instructions go: before @at, each behind the one before. */
struct sxs_emit {
    struct sxs_method  *m;
    struct sxs_il_insn *at; /* NULL: at the end */
};

int sxs_emit(struct sxs_emit *e, struct sxs_il_insn *insn);

/** A pointer as a constant. */
int sxs_emit_pointer(struct sxs_emit *e, const void *pointer);

/**
 * sxs_emit_callout - `calli` of native @function without a transition; its arguments are on the stack.
 * @result and @arguments: enum sxs_element, primitive ones.
 */
int sxs_emit_callout(struct sxs_emit *e, uintptr_t function, uint8_t result,
                     const uint8_t *arguments, unsigned n);

/** The same with a transition: @function may take its time, and call managed code. */
int sxs_emit_native(struct sxs_emit *e, uintptr_t function, uint8_t result,
                    const uint8_t *arguments, unsigned n);

/** A type's token as signatures have it; up to four bytes at @out. Returns how many. */
size_t sxs_emit_coded(uint8_t *out, uint32_t token);

#endif
