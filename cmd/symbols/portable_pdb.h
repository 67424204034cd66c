/* SPDX-License-Identifier: MIT */
/**
 * portable_pdb.h - source lines of managed methods, from a Portable PDB beside the assembly or
 * embedded in it.
 *
 * Both files are untrusted: every offset is checked. Any thread, but only one at a time per reader.
 */
#ifndef SXS_CMD_SYMBOLS_PORTABLE_PDB_H
#define SXS_CMD_SYMBOLS_PORTABLE_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_pdb;

/** A position in a source file. */
struct sxs_pdb_line {
    const char *file; /* document's name, borrowed until the next call; perhaps not UTF-8 */
    uint32_t    line; /* from 1 */
};

/**
 * sxs_pdb_open - open the PDB of the assembly @path; it must have the ID in the assembly's debug
 * directory.
 * Returns an owned reader, to be released with sxs_pdb_close(), or NULL when there is no PDB with
 * that ID. Does not open pipes and does not block.
 */
struct sxs_pdb *sxs_pdb_open(const char *path);

/**
 * sxs_pdb_parse - read the Portable PDB in @bytes, which are borrowed until sxs_pdb_close().
 * @id: the 20 bytes that its ID must have; NULL accepts any ID.
 * Returns an owned reader, or NULL when @bytes is no Portable PDB or has another ID.
 */
struct sxs_pdb *sxs_pdb_parse(const uint8_t *bytes, size_t size, const uint8_t *id);

/**
 * sxs_pdb_find - find the source line of the instruction at offset @il in the method @token
 * (mdMethodDef).
 * The result is the last line that begins at or before @il, or else the first line of the method.
 * Returns false when no line is known.
 */
bool sxs_pdb_find(struct sxs_pdb *pdb, uint32_t token, uint32_t il, struct sxs_pdb_line *out);

/** sxs_pdb_close - release a reader; NULL is allowed. */
void sxs_pdb_close(struct sxs_pdb *pdb);

#endif
