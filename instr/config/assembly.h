/* SPDX-License-Identifier: MIT */
/**
 * instr/config/assembly.h - describe the methods of an assembly's file for matching with rules.
 *
 * For commands that match rules without a running process. The bytes of the file are untrusted.
 * Only one thread at a time may use a struct sxs_assembly.
 */
#ifndef SXS_INSTR_CONFIG_ASSEMBLY_H
#define SXS_INSTR_CONFIG_ASSEMBLY_H

#include "instr/config/config.h"
#include "instr/metadata/metadata.h"

struct sxs_assembly;

/** sxs_assembly_new - make an assembly from its metadata @md, which is borrowed. Free the assembly with
 *  sxs_assembly_free(). Returns NULL without memory. */
struct sxs_assembly *sxs_assembly_new(const struct sxs_metadata *md);
void                 sxs_assembly_free(struct sxs_assembly *assembly); /* NULL is allowed */

/** sxs_assembly_method - describe the method with the MethodDef @token in @method. The memory that
 *  @method points to is valid until the next call. method->runtime is NULL. Returns 0, or -1
 *  without memory. */
int sxs_assembly_method(struct sxs_assembly *assembly, uint32_t token,
                        struct sxs_config_method *method);

/** sxs_assembly_is_outer - did the compiler make a state machine of the MethodDef @token? */
int sxs_assembly_is_outer(const struct sxs_assembly *assembly, uint32_t token);

/** sxs_assembly_parameter - return the number, from 0, of the parameter called @name of the
 *  MethodDef @token, or -1 when there is none. */
int sxs_assembly_parameter(const struct sxs_assembly *assembly, uint32_t token, const char *name);

#endif
