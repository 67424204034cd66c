/* SPDX-License-Identifier: MIT */
/** signature_text.h - types and signatures in ilasm's syntax. Pure functions. */
#ifndef SXS_INSTR_SIGNATURE_TEXT_H
#define SXS_INSTR_SIGNATURE_TEXT_H

#include "instr/metadata/signature.h"
#include "instr/metadata/text.h"

/** sxs_element_name - "System.Int32" of a primitive, void, string, object, typedref; NULL of others. */
const char *sxs_element_name(uint8_t element);

/** Names of types, from whoever has the metadata. */
struct sxs_il_type_names {
    /** The type of token TypeDef, TypeRef or TypeSpec, as `[assembly]Namespace.Outer/Inner`. */
    void (*put)(void *context, struct sxs_il_text *t, uint32_t token);
    void *context;
};

/** sxs_sig_put_type - the type at @node. */
void sxs_sig_put_type(struct sxs_il_text *t, const struct sxs_sig *sig, uint32_t node,
                      const struct sxs_il_type_names *names);

/** sxs_sig_put_parameters - `(int32, string)`. */
void sxs_sig_put_parameters(struct sxs_il_text *t, const struct sxs_sig *sig,
                            const struct sxs_il_type_names *names);

/** sxs_sig_put_convention - `instance ` and the like, with a blank behind each word. */
void sxs_sig_put_convention(struct sxs_il_text *t, unsigned convention);

#endif
