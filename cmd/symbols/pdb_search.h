/* SPDX-License-Identifier: MIT */
/** pdb_search.h - find the Portable PDB of an assembly. */
#ifndef SXS_CMD_SYMBOLS_PDB_SEARCH_H
#define SXS_CMD_SYMBOLS_PDB_SEARCH_H

#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/pe_debug.h"
#include "cmd/symbols/symbol_path.h"

#include <fcntl.h>

/** What is searched for, and what is found. */
struct sxs_pdb_search {
    const char                  *assembly; /* path */
    struct sxs_symbol_path      *symbols;  /* the folders of --symbols; NULL: none */
    const struct sxs_file_owner *owner;    /* of the session that names the assembly */
    char                        *wrong;    /* owned; receives the path of a file with the PDB's name
                                            * that is another PDB; NULL: there is none, or the right
                                            * PDB was found */
    bool                         is_ours;  /* nobody else can have written the files */
    struct sxs_pe_debug          debug;    /* receives the assembly's debug directory */
};

/**
 * sxs_pdb_search - read the PDB of an assembly that has the ID in the assembly's debug directory.
 * Searches the file beside the assembly that has the extension .pdb, the PDB embedded in the
 * assembly, the path in the debug directory, and then the folders of --symbols by the ID.
 * @size: receives its size in bytes. @why: receives why there is none although there is an assembly,
 * static text, or NULL. Returns the whole PDB, to be released with free(), or NULL when there is no
 * PDB with that ID. Runs in a worker (worker.h), where a file of others that is large is left out.
 */
uint8_t *sxs_pdb_search(struct sxs_pdb_search *search, size_t *size, const char **why);

/** sxs_pdb_most - return the bytes of the largest PDB that is read, when others can(not) have written it. */
static inline size_t sxs_pdb_most(bool is_ours)
{
    return is_ours ? SXS_MAX_PDB : (size_t)48 << 20;
}

/** The seals of the file in memory in which a PDB comes: nobody can change or cut it. */
#define SXS_PDB_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

/** A request to the worker. The path of the assembly follows it. */
struct sxs_pdb_request {
    struct sxs_file_owner owner;
};

/** The answer. A descriptor of the PDB comes with it if there is one; the path of a wrong file
 *  follows it. */
struct sxs_pdb_found {
    uint64_t size; /* bytes of the PDB; 0: none */
    bool     is_ours;
    char     problem[128]; /* "", or why there is none */
};

/** sxs_pdb_search_answer - answer a request. A sxs_symbol_worker_answer, whose @arg is the folders of
 *  --symbols or NULL. */
size_t sxs_pdb_search_answer(void *arg, const void *request, size_t size, void *answer, int *fd);

#endif
