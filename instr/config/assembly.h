/* SPDX-License-Identifier: MIT */
/**
 * assembly.h - the methods of an assembly's file, as rules see them.
 *
 * For tools that ask before anything runs. Untrusted bytes, like instr/metadata/metadata.h. One thread at a
 * time.
 */
#ifndef SXS_CONFIG_ASSEMBLY_H
#define SXS_CONFIG_ASSEMBLY_H

#include "instr/config/config.h"
#include "instr/metadata/metadata.h"

struct sxs_assembly;

/** sxs_assembly_new - of @md, borrowed. Owned: sxs_assembly_free(). NULL: no memory. */
struct sxs_assembly *sxs_assembly_new(const struct sxs_metadata *md);
void                 sxs_assembly_free(struct sxs_assembly *assembly); /* NULL is fine */

/** sxs_assembly_method - MethodDef @token into *method; all it reaches is good until the next call.
 *  What its runtime is stays open. Returns 0, or -1: no memory. */
int sxs_assembly_method(struct sxs_assembly *assembly, uint32_t token,
                        struct sxs_config_method *method);

/** sxs_assembly_is_outer - did the compiler make a state machine of it? */
int sxs_assembly_is_outer(const struct sxs_assembly *assembly, uint32_t token);

/** sxs_assembly_parameter - the number of MethodDef @token's parameter of that name, from 0. -1:
 *  none has. */
int sxs_assembly_parameter(const struct sxs_assembly *assembly, uint32_t token, const char *name);

#endif
