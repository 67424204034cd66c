/* SPDX-License-Identifier: MIT */
/** assembly_body.h - check IL bodies of assemblies that are named on the command line, as the library
 *  checks a body before it changes the body. */
#ifndef SXS_CMD_ASSEMBLY_BODY_H
#define SXS_CMD_ASSEMBLY_BODY_H

#include "include/sxs_il.h"
#include "instr/metadata/metadata.h"

/**
 * sxs_assembly_check_body - check whether a JIT would accept @body, which has been read.
 * @token: the method.
 * Returns 0, or another value of enum sxs_il_err, and then describes the problem in @error.
 */
int sxs_assembly_check_body(struct sxs_metadata *md, struct sxs_il_body *body, uint32_t token,
                            struct sxs_il_error *error);

#endif
