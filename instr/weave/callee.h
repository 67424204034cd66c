/* SPDX-License-Identifier: MIT */
/** callee.h - signatures of the methods that instructions name, from a runtime's metadata. */
#ifndef SXS_INSTR_WEAVE_CALLEE_H
#define SXS_INSTR_WEAVE_CALLEE_H

#include "include/sxs_il.h"
#include "sxs_abi.h"

/** sxs_callee_signature - get the signature of the MethodDef, MemberRef, MethodSpec or StandAloneSig
 *  @token. *sig is borrowed from the metadata. Returns an HRESULT. */
HRESULT sxs_callee_signature(IMetaDataImport2 *imp, uint32_t token, const uint8_t **sig,
                             ULONG *size);

/** sxs_callee_effect - determine how @opcode (call, callvirt, newobj or calli) with @token changes
 *  the evaluation stack. Returns 0, or -1 when the signature cannot be read. */
int sxs_callee_effect(IMetaDataImport2 *imp, enum sxs_il_opcode opcode, uint32_t token,
                      struct sxs_il_effect *out);

#endif
