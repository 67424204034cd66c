/* SPDX-License-Identifier: MIT */
/** instr/il/metadata_text.h - write the types and members that tokens stand for, in ilasm's syntax.
 *  Pure functions. A token that cannot be resolved is written as a number, unless said
 *  otherwise. */
#ifndef SXS_INSTR_IL_METADATA_TEXT_H
#define SXS_INSTR_IL_METADATA_TEXT_H

#include "instr/il/text.h"
#include "instr/metadata/metadata.h"
#include "instr/metadata/signature_text.h"

/** sxs_md_put_type - write the TypeDef or TypeRef @token as `[assembly]Namespace.Outer/Inner`, or
 *  the type that the TypeSpec @token stands for. */
void sxs_md_put_type(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token);

/** sxs_md_put_type_name - write the TypeDef or TypeRef @token as `Namespace.Outer+Inner`; `?` for
 *  other tokens. */
void sxs_md_put_type_name(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token);

/** sxs_md_put_method - write the method @token as `instance int32 Namespace.Type::Name(string)`. */
void sxs_md_put_method(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token);

/** sxs_md_put_full_name - write the MethodDef @token as `Namespace.Outer+Inner.Method`, the
 *  spelling of patterns of function names. */
void sxs_md_put_full_name(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token);

/** sxs_md_names - make the table of functions for sxs_il_put_body(). Borrows @md. */
struct sxs_il_names sxs_md_names(const struct sxs_metadata *md);

#endif
