/* SPDX-License-Identifier: MIT */
/**
 * instr/metadata/signature.h - parse ECMA-335 signature blobs (II.23.2) into trees.
 *
 * The nodes of a tree are in an array of the caller, and refer to each other by index. `next` links
 * siblings. The bytes are untrusted: bytes that are not a signature are refused, and nesting and
 * counts are limited.
 */
#ifndef SXS_INSTR_METADATA_SIGNATURE_H
#define SXS_INSTR_METADATA_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/** The kind of a node; the values are those of II.23.1.16. */
enum sxs_element {
    SXS_ELEMENT_VOID = 0x01, SXS_ELEMENT_BOOLEAN, SXS_ELEMENT_CHAR, SXS_ELEMENT_I1, SXS_ELEMENT_U1,
    SXS_ELEMENT_I2, SXS_ELEMENT_U2, SXS_ELEMENT_I4, SXS_ELEMENT_U4, SXS_ELEMENT_I8, SXS_ELEMENT_U8,
    SXS_ELEMENT_R4, SXS_ELEMENT_R8, SXS_ELEMENT_STRING,
    SXS_ELEMENT_PTR = 0x0f,     /* child: the type it points to */
    SXS_ELEMENT_BYREF = 0x10,   /* child: the type it refers to */
    SXS_ELEMENT_VALUETYPE = 0x11, /* value: token */
    SXS_ELEMENT_CLASS = 0x12,   /* value: token */
    SXS_ELEMENT_VAR = 0x13,     /* value: index of a type parameter of the type */
    SXS_ELEMENT_ARRAY = 0x14,   /* value: rank; children: element, SIZE..., BOUND... */
    SXS_ELEMENT_GENERICINST = 0x15, /* children: open type (CLASS, VALUETYPE, INTERNAL), arguments */
    SXS_ELEMENT_TYPEDBYREF = 0x16,
    SXS_ELEMENT_I = 0x18, SXS_ELEMENT_U = 0x19,
    SXS_ELEMENT_FNPTR = 0x1b,   /* value: calling convention; children: result, parameters */
    SXS_ELEMENT_OBJECT = 0x1c,
    SXS_ELEMENT_SZARRAY = 0x1d, /* child: the element */
    SXS_ELEMENT_MVAR = 0x1e,    /* value: index of a type parameter of the method */
    SXS_ELEMENT_CMOD_REQD = 0x1f, SXS_ELEMENT_CMOD_OPT = 0x20, /* value: token; child: the type */
    SXS_ELEMENT_INTERNAL = 0x21,      /* handle: private to the runtime */
    SXS_ELEMENT_CMOD_INTERNAL = 0x22, /* handle: likewise; value: 1: required; child: the type */
    SXS_ELEMENT_SENTINEL = 0x41, /* not a type: stands before the variable arguments of a call */
    SXS_ELEMENT_PINNED = 0x45,   /* child: the type */
    /* Not in ECMA-335. value: size or lower bound of one dimension. */
    SXS_ELEMENT_SIZE = 0x80, SXS_ELEMENT_BOUND = 0x81,
};

/** Stands for no node. */
#define SXS_SIG_NONE UINT32_MAX

struct sxs_sig_node {
    uint8_t  element;     /* enum sxs_element */
    uint8_t  generic;     /* of FNPTR: number of its own type parameters, at most 255 */
    uint16_t n;           /* number of children, set by sxs_sig_parse() */
    uint32_t value;       /* see enum sxs_element; an int32_t in a BOUND */
    uint32_t child, next; /* first child; next sibling */
    uint64_t handle;      /* see enum sxs_element */
};

enum sxs_sig_kind { SXS_SIG_METHOD, SXS_SIG_FIELD, SXS_SIG_LOCALS, SXS_SIG_PROPERTY, SXS_SIG_TYPE };

struct sxs_sig {
    struct sxs_sig_node *nodes;        /* borrowed from the caller */
    uint32_t             n_nodes, cap; /* nodes in use; length of `nodes` */
    uint8_t              convention;   /* first byte: kind in the low four bits, 0x10 generic, 0x20
                                         this, 0x40 explicit this; 0 for SXS_SIG_TYPE */
    uint32_t             n_generic;    /* number of type parameters of the method */
    uint32_t             n_params;     /* number of parameters; SXS_SIG_LOCALS: of locals */
    uint32_t             result;       /* node: a method's result, or the type of the others */
    uint32_t             params; /* node: the first parameter; SXS_SIG_NONE: none. The list may
                                         contain a SENTINEL, which n_params does not count */
    size_t               size;   /* of the signature in bytes, set by sxs_sig_parse() */
};

/**
 * sxs_sig_parse - parse a signature of @kind. Pure.
 * @bytes, @size: the signature; bytes after its end are allowed.
 * @nodes, @cap: array for the nodes, and its length.
 * @out: receives the signature; borrows @nodes.
 * Returns 0, -1 when the bytes are not such a signature or end too early, -2 when @cap is too
 * small.
 */
int sxs_sig_parse(enum sxs_sig_kind kind, const uint8_t *bytes, size_t size,
                  struct sxs_sig_node *nodes, uint32_t cap, struct sxs_sig *out);

/** sxs_sig_plain - return the node of the type at node @at without modifiers and PINNED. */
uint32_t sxs_sig_plain(const struct sxs_sig *sig, uint32_t at);

#endif
