/* SPDX-License-Identifier: MIT */
/**
 * debug_file.h - find the separate debug file of an ELF file: by build-id, or by the name and check
 * sum in its debuglink, in the places where debuggers look. Runs in a worker (worker.h).
 */
#ifndef SXS_CMD_SYMBOLS_DEBUG_FILE_H
#define SXS_CMD_SYMBOLS_DEBUG_FILE_H

#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/symbol_path.h"

#include <stddef.h>

/** What a debug file is searched for. */
struct sxs_debug_wanted {
    const char                  *file; /* path of the ELF file */
    const char                  *link; /* the name in its debuglink; NULL: none */
    uint32_t                     crc;  /* of the debug file, with a link */
    const uint8_t               *id;   /* its build-id; id_size 0: not known */
    size_t                       id_size;
    struct sxs_symbol_path      *symbols; /* NULL: none */
    const struct sxs_file_owner *owner;   /* of the session */
};

/**
 * sxs_file_by_id - open an ELF file with the build-id @id: @number 0: one in the folders of --symbols,
 * 1: the debug file below /usr/lib/debug. Its build-id is as the search or its name says.
 * @path: receives its path, owned. Returns a descriptor, which the caller owns, or -1.
 */
int sxs_file_by_id(struct sxs_symbol_path *symbols, const uint8_t *id, size_t size, unsigned number,
                   char **path);

/**
 * sxs_debug_file_find - find and open a debug file that has the wanted build-id or check sum.
 * @path: receives its path, owned. Returns a descriptor, which the caller owns, or -1.
 * While it searches, time and memory count as those of files of others (sxs_symbol_worker_limited()).
 */
int sxs_debug_file_find(const struct sxs_debug_wanted *wanted, char **path);

#endif
