/* SPDX-License-Identifier: MIT */
/**
 * native.h - names of native functions from ELF files, by libdw: symbol tables, separate debug
 * files found by build-id or debuglink, DWARF lines. Each ELF file is opened once, at its first
 * use, by a worker (worker.h): the paths and the files are untrusted.
 *
 * A file that is missing, or is another build now, is replaced by a file with the recorded build-id
 * from the folders of --symbols, from /usr/lib/debug, or from a debuginfod server.
 */
#ifndef SXS_CMD_SYMBOLS_NATIVE_H
#define SXS_CMD_SYMBOLS_NATIVE_H

#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/lookup.h"

struct sxs_natives;

/**
 * sxs_natives_new - return an owned, empty object; release it with sxs_natives_free().
 * @lookup: copied.
 */
struct sxs_natives *sxs_natives_new(const struct sxs_lookup *lookup);

/**
 * sxs_natives_owner - set whose session names the files that are added from now on; copied. At
 * first, files are opened with the rights of this process.
 */
void sxs_natives_owner(struct sxs_natives *all, const struct sxs_file_owner *owner);

/**
 * sxs_natives_add - return the number of an ELF file; equal for equal @path and @build_id.
 * @build_id: of the file when it was mapped. A file whose build-id differs now gives no names. With
 * 0 bytes, any file is accepted.
 */
uint32_t sxs_natives_add(struct sxs_natives *all, const char *path, size_t path_size,
                         const uint8_t *build_id, size_t build_id_size);

/** sxs_natives_path - return the path of a file; zero-terminated, borrowed. */
const char *sxs_natives_path(const struct sxs_natives *all, uint32_t file);

/** The name of an address. Texts are borrowed until the next call. */
struct sxs_native_name {
    const char *symbol; /* demangled; "?" when the file has no name for the address */
    const char *source; /* source file; "" when not known */
    uint32_t    line;   /* where the function begins; 0 when not known */
    uint32_t    at_line; /* line of the address itself, in the same source file; 0 when not known */
};

/**
 * sxs_natives_name - find the name of the function at the ELF virtual address @address of @file.
 */
void sxs_natives_name(struct sxs_natives *all, uint32_t file, uint64_t address,
                      struct sxs_native_name *out);

/**
 * sxs_natives_problem - return why a file gives no names; NULL when there was no problem or no name
 * was needed.
 * @file: from 0. @end: receives true when @file is past the last file.
 */
const char *sxs_natives_problem(const struct sxs_natives *all, uint32_t file, bool *end);

void sxs_natives_free(struct sxs_natives *all);

#endif
