/* SPDX-License-Identifier: MIT */
/**
 * pe_debug.h - read the debug directory of an assembly (a PE file): which Portable PDB it has, and
 * where.
 *
 * Assemblies are untrusted: every offset is checked. Any thread.
 */
#ifndef SXS_CMD_SYMBOLS_PE_DEBUG_H
#define SXS_CMD_SYMBOLS_PE_DEBUG_H

#include "cmd/symbols/portable_pdb.h"

#define SXS_MAX_PDB (256u << 20) /* bytes; a larger PDB is not read */

/** What the debug directory of an assembly says. */
struct sxs_pe_debug {
    uint8_t  id[SXS_PDB_ID_SIZE]; /* of its PDB */
    char     path[1024];          /* of its PDB when it was compiled; "": not known or too long */
    uint32_t embedded_at, embedded_size; /* in the file; embedded_size: bytes; 0: not embedded */
};

/**
 * sxs_pe_read_debug - read the debug directory of the assembly @fd, a regular file; borrowed.
 * Returns false when the file cannot be read or names no PDB.
 */
bool sxs_pe_read_debug(int fd, struct sxs_pe_debug *out);

/**
 * sxs_pe_read_embedded - unpack the PDB embedded in the assembly @fd; borrowed.
 * @debug: its debug directory. @max: bytes; a larger PDB is not unpacked. @size: receives its size.
 * Returns owned memory, to be released with free(), or NULL when there is none or it is damaged.
 */
uint8_t *sxs_pe_read_embedded(int fd, const struct sxs_pe_debug *debug, size_t max, size_t *size);

#endif
