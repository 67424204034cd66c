/* SPDX-License-Identifier: MIT */
/** symbols/type_name.h - names of types from a runtime's metadata, for the printer of
 *  instr/metadata/type_name.h. */
#ifndef SXS_SYMBOLS_TYPE_NAME_H
#define SXS_SYMBOLS_TYPE_NAME_H

#include "instr/metadata/type_name.h"
#include "sxs_abi.h"

/** sxs_types_of_import - the source that reads @imp (borrowed), with names as they are. */
struct sxs_type_source sxs_types_of_import(IMetaDataImport2 *imp);

/** sxs_types_to_show - the same, with control characters replaced by '?' and lone surrogates by
 *  U+FFFD. */
struct sxs_type_source sxs_types_to_show(IMetaDataImport2 *imp);

#endif
