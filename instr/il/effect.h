/* SPDX-License-Identifier: MIT */
/** instr/il/effect.h - what a call does to the stack, from the signature of the called method. Pure
 *  functions. */
#ifndef SXS_INSTR_IL_EFFECT_H
#define SXS_INSTR_IL_EFFECT_H

#include "include/sxs_il.h"

/** Number of parameters and results of a method. */
struct sxs_il_arity {
    uint16_t n_parameters; /* without `this`, unless `this` is an explicit parameter */
    uint8_t  has_this;     /* nonzero: one more argument, which is not an explicit parameter */
    uint8_t  returns;      /* nonzero: a value */
};

/** sxs_il_method_arity - read a method's signature of @size bytes. Returns 0, or -1 when it is not
 *  a method's signature. */
int sxs_il_method_arity(const uint8_t *signature, size_t size, struct sxs_il_arity *arity);

/** sxs_il_local_count - count the locals in a signature of locals. Returns -1 when the bytes are
 *  not one. */
int sxs_il_local_count(const uint8_t *signature, size_t size);

/** sxs_il_call_effect - determine what @opcode (call, callvirt, calli or newobj) does to the stack
 *  with a method of this signature. Returns 0, or -1 when it is not a method's signature. */
int sxs_il_call_effect(const uint8_t *signature, size_t size, enum sxs_il_opcode opcode,
                       struct sxs_il_effect *effect);

#endif
