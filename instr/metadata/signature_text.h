/* SPDX-License-Identifier: MIT */
/** instr/metadata/signature_text.h - write types and signatures in ilasm's syntax. Pure
 *  functions. */
#ifndef SXS_INSTR_METADATA_SIGNATURE_TEXT_H
#define SXS_INSTR_METADATA_SIGNATURE_TEXT_H

#include "instr/metadata/signature.h"
#include "instr/metadata/text.h"

/** sxs_element_name - return the type's name, such as "System.Int32", for a primitive type, void,
 *  string, object or typedref; NULL for other elements. Static. */
const char *sxs_element_name(uint8_t element);

/** A function of the caller that writes the names of types. */
struct sxs_il_type_names {
    /** Write the TypeDef, TypeRef or TypeSpec @token as `[assembly]Namespace.Outer/Inner`. */
    void (*put)(void *context, struct sxs_text *t, uint32_t token);
    void *context;
};

/** sxs_sig_put_type - write the type at @node. */
void sxs_sig_put_type(struct sxs_text *t, const struct sxs_sig *sig, uint32_t node,
                      const struct sxs_il_type_names *names);

/** sxs_sig_put_parameters - write the parameters: `(int32, string)`. */
void sxs_sig_put_parameters(struct sxs_text *t, const struct sxs_sig *sig,
                            const struct sxs_il_type_names *names);

/** sxs_sig_put_convention - write `instance `, `vararg ` and similar words, each with a blank
 *  after it. */
void sxs_sig_put_convention(struct sxs_text *t, unsigned convention);

#endif
