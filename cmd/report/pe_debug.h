/* SPDX-License-Identifier: MIT */
/** pe_debug.h - the Portable PDB that an assembly's debug directory (PE) tells of. */
#ifndef SXS_REPORT_PROFILE_PE_DEBUG_H
#define SXS_REPORT_PROFILE_PE_DEBUG_H

#include <stddef.h>
#include <stdint.h>

#define SXS_PDB_ID_SIZE 20u /* a GUID and a time stamp */

/**
 * sxs_pe_read_pdb - the bytes of the PDB of the assembly @path: the file beside it whose name ends
 * in .pdb instead, or else the one embedded in it. Whether it belongs to it is for the ID to say.
 * @id: receives the ID the assembly asks for. @size: receives the bytes.
 * Returns memory to free(), or NULL when there is none. Untrusted files: every offset is checked.
 */
uint8_t *sxs_pe_read_pdb(const char *path, uint8_t id[SXS_PDB_ID_SIZE], size_t *size);

#endif
