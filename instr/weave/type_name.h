/* SPDX-License-Identifier: MIT */
/** type_name.h - names of types from a runtime's metadata, in the form Namespace.Outer+Inner`1. */
#ifndef SXS_INSTR_WEAVE_TYPE_NAME_H
#define SXS_INSTR_WEAVE_TYPE_NAME_H

#include "instr/metadata/text.h"
#include "base/base.h"
#include "sxs_abi.h"

/** sxs_put_type_name - append the name of the TypeDef or TypeRef @token to @t. Appends nothing for
 *  other tokens, or when the name cannot be read. @import: an IMetaDataImport2, borrowed. */
void sxs_put_type_name(void *import, struct sxs_text *t, uint32_t token);

/** sxs_type_def_name - write the name of the TypeDef @type to @out, cut to @size bytes. Returns 0,
 *  or -1 when the name cannot be read. */
int sxs_type_def_name(IMetaDataImport2 *imp, mdToken type, char *out, size_t size);

#endif
