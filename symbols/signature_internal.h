/* SPDX-License-Identifier: MIT */
/** symbols/signature_internal.h - converts ECMA-335 signature blobs (II.23.2) to text. */
#ifndef SXS_SYMBOLS_SIGNATURE_INTERNAL_H
#define SXS_SYMBOLS_SIGNATURE_INTERNAL_H

#include "base/text/buffer.h"
#include "sxs_abi.h"

/**
 * Functions that append the names of the types a signature refers to. @ctx is passed on from the
 * caller. */
struct sxs_type_names {
    void (*token)(void *ctx, struct sxs_text *out, mdToken type); /* typedef, typeref or typespec */
    /* A loaded type (in signatures of dynamic methods). @bare: without type arguments, which
     * follow in the signature. */
    void (*class_id)(void *ctx, struct sxs_text *out, ClassID type, int bare);
    void (*variable)(void *ctx, struct sxs_text *out, uint32_t index, int of_method);
};

/**
 * sxs_signature_params - append the parameter types of a method signature, "(System.Int32, ref
 * T)".
 * @sig, @size: the blob; size in bytes. It may be invalid: then the text is "(?)", as without memory.
 * Any thread; not signal-safe. */
void sxs_signature_params(struct sxs_text *out, const uint8_t *sig, size_t size,
                          const struct sxs_type_names *names, void *ctx);

/**
 * sxs_signature_type - append one type, as in a typespec's blob. If the blob is invalid, or without
 * memory, the text is "?". Any thread; not signal-safe. */
void sxs_signature_type(struct sxs_text *out, const uint8_t *sig, size_t size,
                        const struct sxs_type_names *names, void *ctx);

/**
 * sxs_signature_primitive - "System.Int32" for ELEMENT_TYPE_I4, and so on; NULL for a type that
 * is not a primitive one. Static storage. */
const char *sxs_signature_primitive(uint32_t element_type);

#endif
