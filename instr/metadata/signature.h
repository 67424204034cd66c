/* SPDX-License-Identifier: MIT */
/**
 * signature.h - ECMA-335 signature blobs (II.23.2) as trees. Knows of no runtime.
 *
 * A tree lies in an array of the caller's: nodes name each other by index, siblings are linked by
 * `next`. Bytes may be anything: what is no signature is refused, nesting and counts are bounded.
 */
#ifndef SXS_INSTR_SIGNATURE_H
#define SXS_INSTR_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/** What a node is; the values of signatures, II.23.1.16. */
enum sxs_element {
    SXS_ELEMENT_VOID = 0x01, SXS_ELEMENT_BOOLEAN, SXS_ELEMENT_CHAR, SXS_ELEMENT_I1, SXS_ELEMENT_U1,
    SXS_ELEMENT_I2, SXS_ELEMENT_U2, SXS_ELEMENT_I4, SXS_ELEMENT_U4, SXS_ELEMENT_I8, SXS_ELEMENT_U8,
    SXS_ELEMENT_R4, SXS_ELEMENT_R8, SXS_ELEMENT_STRING,
    SXS_ELEMENT_PTR = 0x0f,     /* child: what it points to */
    SXS_ELEMENT_BYREF = 0x10,   /* child */
    SXS_ELEMENT_VALUETYPE = 0x11, /* value: token */
    SXS_ELEMENT_CLASS = 0x12,   /* value: token */
    SXS_ELEMENT_VAR = 0x13,     /* value: index among the type's parameters */
    SXS_ELEMENT_ARRAY = 0x14,   /* value: rank; children: element, SIZE..., BOUND... */
    SXS_ELEMENT_GENERICINST = 0x15, /* children: open type (CLASS, VALUETYPE, INTERNAL), arguments */
    SXS_ELEMENT_TYPEDBYREF = 0x16,
    SXS_ELEMENT_I = 0x18, SXS_ELEMENT_U = 0x19,
    SXS_ELEMENT_FNPTR = 0x1b,   /* value: calling convention; children: result, parameters */
    SXS_ELEMENT_OBJECT = 0x1c,
    SXS_ELEMENT_SZARRAY = 0x1d, /* child */
    SXS_ELEMENT_MVAR = 0x1e,    /* value: index among the method's parameters */
    SXS_ELEMENT_CMOD_REQD = 0x1f, SXS_ELEMENT_CMOD_OPT = 0x20, /* value: token; child: the type */
    SXS_ELEMENT_INTERNAL = 0x21,      /* handle: a runtime's own */
    SXS_ELEMENT_CMOD_INTERNAL = 0x22, /* the same; value: 1 required; child: the type */
    SXS_ELEMENT_SENTINEL = 0x41, /* before the first argument that a call added: no type */
    SXS_ELEMENT_PINNED = 0x45,   /* child */
    SXS_ELEMENT_SIZE = 0x80, SXS_ELEMENT_BOUND = 0x81, /* ours: value, of one dimension */
};

/** No node. */
#define SXS_SIG_NONE UINT32_MAX

struct sxs_sig_node {
    uint8_t  element; /* enum sxs_element */
    uint8_t  generic; /* of FNPTR: parameters of its own */
    uint16_t n;       /* children */
    uint32_t value;   /* as said above; a BOUND's is an int32_t */
    uint32_t child, next; /* the first; the following sibling */
    uint64_t handle;
};

enum sxs_sig_kind { SXS_SIG_METHOD, SXS_SIG_FIELD, SXS_SIG_LOCALS, SXS_SIG_PROPERTY, SXS_SIG_TYPE };

struct sxs_sig {
    struct sxs_sig_node *nodes; /* the caller's */
    uint32_t             n_nodes, cap;
    uint8_t              convention;  /* first byte: kind in the low four bits, 0x10 generic, 0x20
                                         this, 0x40 explicit this; 0 of a type alone */
    uint32_t             n_generic;   /* a method's own type parameters */
    uint32_t             n_params;    /* parameters; locals of SXS_SIG_LOCALS */
    uint32_t             result;      /* node: of a method; type of a field, property or type */
    uint32_t             params;      /* the first, linked by next; SXS_SIG_NONE: none. With a SENTINEL
                                         among them, which n_params does not count */
};

/**
 * sxs_sig_parse - @size bytes at @bytes as a signature of @kind, into @nodes (@cap of them).
 * Returns 0, -1 when it is no such signature or ends too early, -2 when @cap is too small. Bytes
 * behind its end are no error. Pure; @out borrows @nodes.
 */
int sxs_sig_parse(enum sxs_sig_kind kind, const uint8_t *bytes, size_t size,
                  struct sxs_sig_node *nodes, uint32_t cap, struct sxs_sig *out);

/** The node behind modifiers and PINNED of node @at. */
uint32_t sxs_sig_plain(const struct sxs_sig *sig, uint32_t at);

#endif
