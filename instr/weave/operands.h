/* SPDX-License-Identifier: MIT */
/** operands.h - values of a method that are handed to a call: arguments, `this`, result, exception. */
#ifndef SXS_REWRITE_OPERANDS_H
#define SXS_REWRITE_OPERANDS_H

#include "instr/config/config.h"
#include "instr/metadata/signature.h"
#include "instr/weave/emit.h"

#define SXS_OPERANDS_MAX  32u
#define SXS_OPERAND_NODES 1024u

enum sxs_operand_kind {
    SXS_OPERAND_ARGUMENT,
    SXS_OPERAND_THIS,
    SXS_OPERAND_RESULT, /* in a local of its type */
    SXS_OPERAND_OBJECT, /* a local of type object: exception, state */
    SXS_OPERAND_NUMBER, /* a local of type native int: state, whether it threw */
};

struct sxs_operand {
    enum sxs_operand_kind kind;
    uint16_t              number; /* of the argument or local */
    uint32_t              node;   /* its type in the method's signature */
};

/** What a call gets; the method's signature as a tree. */
struct sxs_operands {
    struct sxs_sig_node nodes[SXS_OPERAND_NODES];
    struct sxs_sig      sig;
    struct sxs_operand  all[SXS_OPERANDS_MAX];
    unsigned            n;
};

/** sxs_operands_choose - what @a chooses of the method's arguments. Returns 0, or -1 with m->why. */
int sxs_operands_choose(struct sxs_method *m, const struct sxs_action *a, struct sxs_operands *o);

/** sxs_operands_add - one more. Returns 0, or -1 with m->why. */
int sxs_operands_add(struct sxs_method *m, struct sxs_operands *o, enum sxs_operand_kind kind,
                     uint16_t number, uint32_t node);

/** sxs_operand_native - push @operand as native code takes it; *element: as what. Text is pinned. Returns 0, or -1
 *  with m->why: objects and structs cannot go there. */
int sxs_operand_native(struct sxs_emit *e, const struct sxs_operands *o,
                       const struct sxs_operand *operand, uint8_t *element);

/** sxs_operand_managed - push it as a value of the type @wanted (an element; OBJECT takes everything but what
 *  cannot be boxed). Returns 0, or -1 with m->why. */
int sxs_operand_managed(struct sxs_emit *e, const struct sxs_operands *o,
                        const struct sxs_operand *operand, uint8_t wanted);

/** Whether the method's `this` is a reference to a value, not to an object. */
int sxs_operands_of_struct(const struct sxs_method *m);

/** How native code has a primitive type: enum sxs_element; 0: not at all. */
uint8_t sxs_native_element(uint8_t element);

#endif
