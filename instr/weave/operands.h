/* SPDX-License-Identifier: MIT */
/** operands.h - IL that pushes values of a method for a call: arguments, `this`, result,
 *  exception. */
#ifndef SXS_INSTR_WEAVE_OPERANDS_H
#define SXS_INSTR_WEAVE_OPERANDS_H

#include "instr/config/config.h"
#include "instr/metadata/signature.h"
#include "instr/weave/emit.h"

#define SXS_OPERANDS_MAX  32u
#define SXS_OPERAND_NODES 1024u

enum sxs_operand_kind {
    SXS_OPERAND_ARGUMENT,
    SXS_OPERAND_THIS,
    SXS_OPERAND_RESULT, /* a local of the result's type */
    SXS_OPERAND_OBJECT, /* a local of type object: exception, state of <wrap> */
    SXS_OPERAND_NUMBER, /* a local of type native int: state of <wrap>, whether it threw */
};

struct sxs_operand {
    enum sxs_operand_kind kind;
    uint16_t              number; /* of the argument (`this` counts) or of the local */
    uint32_t              node;   /* its type in the method's signature; SXS_SIG_NONE: none */
};

/** The operands of one call, and the method's signature as a tree. */
struct sxs_operands {
    struct sxs_sig_node nodes[SXS_OPERAND_NODES];
    struct sxs_sig      sig;
    struct sxs_operand  all[SXS_OPERANDS_MAX];
    unsigned            n;
};

/** sxs_operands_choose - set @o to the method's arguments that the action @a names. Returns 0, or
 *  -1 with m->why. */
int sxs_operands_choose(struct sxs_method *m, const struct sxs_action *a, struct sxs_operands *o);

/** sxs_operands_add - append an operand. Returns 0, or -1 with m->why. */
int sxs_operands_add(struct sxs_method *m, struct sxs_operands *o, enum sxs_operand_kind kind,
                     uint16_t number, uint32_t node);

/**
 * sxs_operand_native - emit IL that pushes @operand for a call of native code.
 * A string is pinned, and the address of its first character is pushed.
 * @element: receives the type that is pushed, an enum sxs_element.
 * Returns 0, or -1 with m->why: objects and structs cannot be passed to native code.
 */
int sxs_operand_native(struct sxs_emit *e, const struct sxs_operands *o,
                       const struct sxs_operand *operand, uint8_t *element);

/**
 * sxs_operand_managed - emit IL that pushes @operand for a parameter of a helper.
 * @wanted: enum sxs_element of the parameter. OBJECT takes every value that can be boxed.
 * Returns 0, or -1 with m->why.
 */
int sxs_operand_managed(struct sxs_emit *e, const struct sxs_operands *o,
                        const struct sxs_operand *operand, uint8_t wanted);

/** sxs_operands_of_struct - return nonzero when the method's `this` is the address of a value,
 *  because its type is a value type; also when the type cannot be read. */
int sxs_operands_of_struct(const struct sxs_method *m);

/** sxs_native_element - return the type, an enum sxs_element, by which native code takes a value of
 *  the type @element. 0: it cannot. */
uint8_t sxs_native_element(uint8_t element);

#endif
