/* SPDX-License-Identifier: MIT */
/**
 * sources.h - source lines of managed code, from the Portable PDBs of its assemblies.
 * Each PDB is opened once, at the first request for its assembly, by a worker (worker.h): the paths
 * and the files are untrusted. One thread at a time.
 */
#ifndef SXS_CMD_SYMBOLS_SOURCES_H
#define SXS_CMD_SYMBOLS_SOURCES_H

#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/lookup.h"
#include "cmd/symbols/portable_pdb.h"

struct sxs_sources;

/**
 * sxs_sources_new - return an owned, empty object; release it with sxs_sources_free().
 * @lookup: copied.
 */
struct sxs_sources *sxs_sources_new(const struct sxs_lookup *lookup);

/** sxs_sources_owner - set whose session names the assemblies that are added from now on; copied. */
void sxs_sources_owner(struct sxs_sources *all, const struct sxs_file_owner *owner);

/** sxs_sources_add - return the number of the assembly at @path; equal for equal paths. */
uint32_t sxs_sources_add(struct sxs_sources *all, const char *path, size_t path_size);

/**
 * sxs_sources_find - call sxs_pdb_find() for the PDB of @assembly; returns false when it has no
 * PDB.
 */
bool sxs_sources_find(struct sxs_sources *all, uint32_t assembly, uint32_t token, uint32_t il,
                      struct sxs_pdb_line *out);

/**
 * sxs_sources_problem - return why an assembly gives no lines although there is a PDB with its name;
 * NULL when there was no problem or no line was needed. Borrowed.
 * @assembly: from 0. @end: receives true when @assembly is past the last assembly.
 */
const char *sxs_sources_problem(const struct sxs_sources *all, uint32_t assembly, bool *end);

void sxs_sources_free(struct sxs_sources *all);

#endif
