/* SPDX-License-Identifier: MIT */
/** metadata_text.h - what tokens stand for, in ilasm's syntax. Pure functions. */
#ifndef SXS_INSTR_METADATA_TEXT_H
#define SXS_INSTR_METADATA_TEXT_H

#include "instr/il/text.h"
#include "instr/metadata/metadata.h"
#include "instr/metadata/signature_text.h"

/** sxs_md_put_type - TypeDef, TypeRef or TypeSpec @token: `[assembly]Namespace.Outer/Inner`, or a type. */
void sxs_md_put_type(const struct sxs_metadata *md, struct sxs_il_text *t, uint32_t token);

/** sxs_md_put_type_name - `Namespace.Outer+Inner` of TypeDef or TypeRef @token; `?` of others. */
void sxs_md_put_type_name(const struct sxs_metadata *md, struct sxs_il_text *t, uint32_t token);

/** sxs_md_put_method_head - MethodDef @token: `instance int32 Namespace.Type::Name<T>(string)`. */
void sxs_md_put_method(const struct sxs_metadata *md, struct sxs_il_text *t, uint32_t token);

/** sxs_md_put_full_name - `Namespace.Outer+Inner.Method` of MethodDef @token, as patterns spell it. */
void sxs_md_put_full_name(const struct sxs_metadata *md, struct sxs_il_text *t, uint32_t token);

/** sxs_md_names - to hand to sxs_il_put_body(). Borrows @md. */
struct sxs_il_names sxs_md_names(const struct sxs_metadata *md);

#endif
