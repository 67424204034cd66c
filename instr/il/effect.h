/* SPDX-License-Identifier: MIT */
/** il_effect.h - what calls do to the stack, by the signature of what is called. Pure functions. */
#ifndef SXS_INSTR_IL_EFFECT_H
#define SXS_INSTR_IL_EFFECT_H

#include "include/sxs_il.h"

struct sxs_il_shape {
    uint16_t n_parameters; /* without `this`, unless it is explicit */
    uint8_t  has_this;
    uint8_t  returns; /* a value */
};

/** sxs_il_method_shape - of a method's signature. Returns 0, or -1: it is none. */
int sxs_il_method_shape(const uint8_t *signature, size_t size, struct sxs_il_shape *shape);

/** sxs_il_local_count - of a locals' signature. -1: it is none. */
int sxs_il_local_count(const uint8_t *signature, size_t size);

/** sxs_il_call_effect - of @opcode (call, callvirt, calli, newobj) with a method of that signature.
 *  Returns 0, or -1: it is none. */
int sxs_il_call_effect(const uint8_t *signature, size_t size, enum sxs_il_opcode opcode,
                       struct sxs_il_effect *effect);

#endif
