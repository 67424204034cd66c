/* SPDX-License-Identifier: MIT */
/** pe_debug.h - find the Portable PDB that the debug directory of an assembly (a PE file) names. */
#ifndef SXS_CMD_SYMBOLS_PE_DEBUG_H
#define SXS_CMD_SYMBOLS_PE_DEBUG_H

#include <stddef.h>
#include <stdint.h>

#define SXS_PDB_ID_SIZE 20u /* a GUID and a time stamp */

/**
 * sxs_pe_read_pdb - read the PDB of the assembly @path.
 * Reads the file beside the assembly that has the extension .pdb, or else the PDB embedded in the
 * assembly. The caller must compare the ID of the PDB with @id.
 * @id: receives the ID that the assembly names. @size: receives the size in bytes.
 * Returns owned memory, to be released with free(), or NULL when there is no PDB. The files are
 * untrusted: every offset is checked.
 */
uint8_t *sxs_pe_read_pdb(const char *path, uint8_t id[SXS_PDB_ID_SIZE], size_t *size);

#endif
