/* SPDX-License-Identifier: MIT */
/**
 * portable_pdb.h - source lines of managed methods, from a Portable PDB beside the assembly or
 * embedded in it.
 *
 * Both files come from somewhere else: every offset is checked, nothing is taken for granted. Any
 * thread, one at a time for each reader.
 */
#ifndef SXS_REPORT_PROFILE_PORTABLE_PDB_H
#define SXS_REPORT_PROFILE_PORTABLE_PDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_pdb;

/** A place in a source file. */
struct sxs_pdb_line {
    const char *file; /* the document's name, borrowed until the next call; not checked for UTF-8 */
    uint32_t    line; /* from 1 */
};

/**
 * sxs_pdb_open - the PDB of the assembly @path: its own, by the ID in its debug directory.
 * Returns a reader, owned: sxs_pdb_close(); NULL when there is none, or none that belongs to it.
 * Follows no pipe and waits for nothing.
 */
struct sxs_pdb *sxs_pdb_open(const char *path);

/**
 * sxs_pdb_parse - read the Portable PDB in @bytes, borrowed until sxs_pdb_close().
 * @id: the 20 bytes its ID must have; NULL: any. Returns NULL when it is none, or another.
 */
struct sxs_pdb *sxs_pdb_parse(const uint8_t *bytes, size_t size, const uint8_t *id);

/** sxs_pdb_find - the line of the instruction at @il in the method @token (mdMethodDef): the last
 *  that begins at or before it, or else the method's first. Returns false when none is known. */
bool sxs_pdb_find(struct sxs_pdb *pdb, uint32_t token, uint32_t il, struct sxs_pdb_line *out);

/** sxs_pdb_close - release it; NULL is fine. */
void sxs_pdb_close(struct sxs_pdb *pdb);

#endif
