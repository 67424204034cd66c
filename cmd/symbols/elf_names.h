/* SPDX-License-Identifier: MIT */
/**
 * elf_names.h - names and lines of addresses in ELF files, by libdw. Runs in a worker (worker.h),
 * because the files are untrusted, and libdw and libelf do not check everything.
 */
#ifndef SXS_CMD_SYMBOLS_ELF_NAMES_H
#define SXS_CMD_SYMBOLS_ELF_NAMES_H

#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/symbol_path.h"

#include <stddef.h>
#include <stdint.h>

#define SXS_BUILD_ID 20u         /* bytes of the longest build-id that a session has */
#define SXS_ELF_TEXT (64u << 10) /* bytes of a name; the rest is cut off */

/** A request to the worker. A path follows it. */
struct sxs_elf_request {
    uint32_t              file;      /* number of the file */
    bool                  is_open;   /* open the file; else: name an address */
    bool                  by_id;     /* open a file of this build-id, not the one at the path */
    bool                  has_debug; /* the descriptor that comes with it is the debug file */
    uint8_t               build_id_size;
    uint8_t               build_id[SXS_BUILD_ID];
    uint64_t              address; /* ELF virtual address */
    struct sxs_file_owner owner;
};

/** The answer to a request to open. */
struct sxs_elf_opened {
    bool    is_ours;   /* nobody else can have written the files, see sxs_foreign_is_ours() */
    bool    is_usable; /* it has names */
    bool    no_debug;  /* a debug file with the following build-id would have more */
    uint8_t build_id_size;
    uint8_t build_id[SXS_BUILD_ID];
    char    problem[128]; /* "" or why not all names are known */
};

/** The answer to a request for a name. The two texts follow it, without zeros at the end. */
struct sxs_elf_named {
    uint32_t symbol_size, source_size; /* bytes; 0: not known */
    uint32_t line, at_line;            /* as in struct sxs_native_name */
};

/** sxs_elf_names_answer - answer a request. A sxs_symbol_worker_answer, whose @arg is the folders of
 *  --symbols or NULL. */
size_t sxs_elf_names_answer(void *arg, const void *request, size_t size, void *answer, int *fd);

#endif
