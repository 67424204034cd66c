/* SPDX-License-Identifier: MIT */
/**
 * portable_pdb.h - source lines of managed methods, from a Portable PDB.
 *
 * PDBs are untrusted: every offset is checked. Any thread, but only one at a time per reader.
 */
#ifndef SXS_CMD_SYMBOLS_PORTABLE_PDB_H
#define SXS_CMD_SYMBOLS_PORTABLE_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_PDB_ID_SIZE 20u /* a GUID and a time stamp */

struct sxs_pdb;

/** A position in a source file. */
struct sxs_pdb_line {
    const char *file; /* document's name, borrowed until the next call; perhaps not UTF-8 */
    uint32_t    line; /* from 1 */
};

/**
 * sxs_pdb_parse - read the Portable PDB in @bytes, which are borrowed until sxs_pdb_close().
 * @id: the 20 bytes that its ID must have; NULL accepts any ID.
 * Returns an owned reader, or NULL when @bytes is no Portable PDB or has another ID.
 */
struct sxs_pdb *sxs_pdb_parse(const uint8_t *bytes, size_t size, const uint8_t *id);

/**
 * sxs_pdb_take - call sxs_pdb_parse() and give @bytes to the reader; they are released with free()
 * when there is no reader. @bytes: owned; NULL gives no reader.
 */
struct sxs_pdb *sxs_pdb_take(uint8_t *bytes, size_t size, const uint8_t *id);

/**
 * sxs_pdb_read_id - read the ID of the Portable PDB in the file @fd into @id, which has room for
 * SXS_PDB_ID_SIZE bytes. Returns false when the file is no Portable PDB. @fd: borrowed.
 */
bool sxs_pdb_read_id(int fd, uint8_t *id);

/**
 * sxs_pdb_find - find the source line of the instruction at offset @il in the method @token
 * (mdMethodDef).
 * The result is the last line that begins at or before @il, or else the first line of the method.
 * Returns false when no line is known.
 */
bool sxs_pdb_find(struct sxs_pdb *pdb, uint32_t token, uint32_t il, struct sxs_pdb_line *out);

/** sxs_pdb_steps - return how many bytes of methods all searches so far have read: a measure of their
 *  time, which a hostile PDB can make large. */
uint64_t sxs_pdb_steps(const struct sxs_pdb *pdb);

/** sxs_pdb_close - release a reader; NULL is allowed. */
void sxs_pdb_close(struct sxs_pdb *pdb);

#endif
