/* SPDX-License-Identifier: MIT */
/** signature_internal.h - ECMA-335 signature blobs (II.23.2) as text. */
#ifndef SXS_SIGNATURE_INTERNAL_H
#define SXS_SIGNATURE_INTERNAL_H

#include "symbols/text_internal.h"
#include "sxs_abi.h"

/** How a signature's references are named; each appends to the text. @ctx is the caller's. */
struct sxs_type_names {
    void (*token)(void *ctx, struct sxs_text *out, mdToken type); /* typedef, typeref or typespec */
    /* A loaded type, in dynamic methods' signatures. @bare: without its arguments, which follow. */
    void (*class_id)(void *ctx, struct sxs_text *out, ClassID type, int bare);
    void (*variable)(void *ctx, struct sxs_text *out, uint32_t index, int of_method);
};

/**
 * sxs_signature_params - the parameter types of a method signature, "(System.Int32, ref T)".
 * @sig, @size: the blob, bytes; may be anything: what cannot be read ends the text with "?)".
 * Pure but for the calls of @names.
 */
void sxs_signature_params(struct sxs_text *out, const uint8_t *sig, size_t size,
                          const struct sxs_type_names *names, void *ctx);

/** One type, as in a typespec's blob. Conditions as above. */
void sxs_signature_type(struct sxs_text *out, const uint8_t *sig, size_t size,
                        const struct sxs_type_names *names, void *ctx);

/** "System.Int32" for ELEMENT_TYPE_I4; NULL for a type that is not one word. Static. */
const char *sxs_signature_primitive(uint32_t element_type);

#endif
