/* SPDX-License-Identifier: MIT */
/** type_name.h - names of types, asked of a runtime's metadata: Namespace.Outer+Inner`1. */
#ifndef SXS_REWRITE_TYPE_NAME_H
#define SXS_REWRITE_TYPE_NAME_H

#include "instr/metadata/text.h"
#include "base/base.h"
#include "sxs_abi.h"

/** sxs_put_type_name - of TypeDef or TypeRef @token; nothing of others, or of what cannot be read. @import: an
 *  IMetaDataImport2, borrowed. */
void sxs_put_type_name(void *import, struct sxs_il_text *t, uint32_t token);

/** sxs_type_def_name - of TypeDef @type, cut to @size bytes. Returns 0, or -1: it cannot be read. */
int sxs_type_def_name(IMetaDataImport2 *imp, mdToken type, char *out, size_t size);

#endif
