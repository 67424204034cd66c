/* SPDX-License-Identifier: MIT */
/**
 * sources.h - source lines of managed code, from the Portable PDBs of the assemblies it came from.
 * An assembly is looked at when it is first asked about, once. One thread at a time.
 */
#ifndef SXS_REPORT_PROFILE_SOURCES_H
#define SXS_REPORT_PROFILE_SOURCES_H

#include "cmd/report/portable_pdb.h"

struct sxs_sources;

/** sxs_sources_new - owned: sxs_sources_free(). */
struct sxs_sources *sxs_sources_new(void);

/** sxs_sources_add - the number of the assembly at @path; equal for equal paths. */
uint32_t sxs_sources_add(struct sxs_sources *all, const char *path, size_t path_size);

/** sxs_sources_find - sxs_pdb_find() in the PDB of @assembly; false when it has none. */
bool sxs_sources_find(struct sxs_sources *all, uint32_t assembly, uint32_t token, uint32_t il,
                      struct sxs_pdb_line *out);

void sxs_sources_free(struct sxs_sources *all);

#endif
