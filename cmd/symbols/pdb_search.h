/* SPDX-License-Identifier: MIT */
/** pdb_search.h - find the Portable PDB of an assembly. */
#ifndef SXS_CMD_SYMBOLS_PDB_SEARCH_H
#define SXS_CMD_SYMBOLS_PDB_SEARCH_H

#include "cmd/symbols/portable_pdb.h"
#include "cmd/symbols/symbol_path.h"

/**
 * sxs_pdb_search - open the PDB of @assembly that has the ID in the assembly's debug directory.
 * Searches the file beside the assembly that has the extension .pdb, the PDB embedded in the
 * assembly, the path in the debug directory, and then @symbols by the ID.
 * @symbols: NULL: none. @wrong: NULL, or receives the path of a file with the PDB's name that is
 * another PDB, as owned text; NULL when there is none, or when the right PDB was found.
 * Returns an owned reader, to be released with sxs_pdb_close(), or NULL when there is no PDB with
 * that ID. Does not open pipes and does not block.
 */
struct sxs_pdb *sxs_pdb_search(const char *assembly, struct sxs_symbol_path *symbols, char **wrong);

#endif
