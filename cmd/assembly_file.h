/* SPDX-License-Identifier: MIT */
/** assembly_file.h - open assemblies that are named on the command line. */
#ifndef SXS_CMD_ASSEMBLY_FILE_H
#define SXS_CMD_ASSEMBLY_FILE_H

#include "instr/metadata/metadata.h"

/**
 * sxs_assembly_open - read the metadata of the assembly @path into @md. The memory is kept until
 * the process ends.
 * Returns SXS_EXIT_OK; otherwise another exit status, after printing a message.
 */
int sxs_assembly_open(const char *path, struct sxs_metadata *md);

#endif
