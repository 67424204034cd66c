/* SPDX-License-Identifier: MIT */
/**
 * symbol_path.h - the folders of the option --symbols, and which ELF files and Portable PDBs are in
 * them.
 *
 * The folders are searched once, with all folders below them, at the first request. A file is found
 * by the ID in its contents, so its name and its place do not matter. The files are untrusted:
 * only regular files are opened, in a worker (worker.h), and damaged files are skipped. One thread
 * at a time.
 */
#ifndef SXS_CMD_SYMBOLS_SYMBOL_PATH_H
#define SXS_CMD_SYMBOLS_SYMBOL_PATH_H

#include <stddef.h>
#include <stdint.h>

struct sxs_symbol_path;
struct argp_state;

/** SXS_SYMBOLS_OPTION - the option --symbols of a verb, for argp. @group: of options. */
#define SXS_SYMBOLS_OPTION(key, group)                                                          \
    {                                                                                           \
        "symbols", key, "DIR", 0,                                                               \
            "Search DIR and all folders in it for debug files (by build-id) and Portable PDBs " \
            "(by ID); "                                                                         \
            "can be repeated",                                                                  \
            group                                                                               \
    }

/**
 * sxs_symbols_option - add the folder @text, the value of an option --symbols, to @path.
 * @path: created at the first call; to be released with sxs_symbol_path_free().
 * Something that is no folder is a usage error, which ends the command.
 */
void sxs_symbols_option(const struct argp_state *state, const char *text,
                        struct sxs_symbol_path **path);

/**
 * sxs_symbol_path_elf - return the path of an ELF file with this build-id, or NULL. Of several
 * files, one that has a symbol table is returned, because it is no stripped file. Borrowed.
 * @path: NULL: nothing is found; also in the functions below. @size: bytes of @build_id.
 */
const char *sxs_symbol_path_elf(struct sxs_symbol_path *path, const uint8_t *build_id, size_t size);

/**
 * sxs_symbol_path_pdb - return the path of a Portable PDB with the ID of 20 bytes @id, or NULL.
 * Borrowed.
 */
const char *sxs_symbol_path_pdb(struct sxs_symbol_path *path, const uint8_t *id);

/**
 * sxs_symbol_path_named - return the path of a file with the name @name (without folder) that
 * ends with ".pdb", or NULL. Borrowed.
 */
const char *sxs_symbol_path_named(struct sxs_symbol_path *path, const char *name);

/**
 * sxs_symbol_path_roots - return the folders as absolute paths, ends with NULL; NULL when there are
 * none. Borrowed.
 */
const char *const *sxs_symbol_path_roots(struct sxs_symbol_path *path);

void sxs_symbol_path_free(struct sxs_symbol_path *path);

#endif
