/* SPDX-License-Identifier: MIT */
/** assembly_file.h - assemblies that are named on the command line. */
#ifndef SXS_REPORT_ASSEMBLY_FILE_H
#define SXS_REPORT_ASSEMBLY_FILE_H

#include "instr/metadata/metadata.h"

/** sxs_assembly_open - the metadata of @path, in memory until the process ends. Returns an exit
 *  status; when it is not SXS_EXIT_OK a message has been printed. */
int sxs_assembly_open(const char *path, struct sxs_metadata *md);

#endif
