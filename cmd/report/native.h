/* SPDX-License-Identifier: MIT */
/**
 * native.h - names of native functions, from ELF files by libdw: symbol tables, separate debug files
 * found by build-id or debuglink, DWARF lines. An ELF file is opened at its first use, once.
 */
#ifndef SXS_REPORT_PROFILE_NATIVE_H
#define SXS_REPORT_PROFILE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_natives;

/** sxs_natives_new - owned: sxs_natives_free(). */
struct sxs_natives *sxs_natives_new(void);

/**
 * sxs_natives_add - the number of an ELF file; equal for equal @path and @build_id.
 * @build_id: of the file that was mapped; a file that has another now is not asked. 0 bytes: any.
 */
uint32_t sxs_natives_add(struct sxs_natives *all, const char *path, size_t path_size,
                         const uint8_t *build_id, size_t build_id_size);

/** sxs_natives_path - zero-terminated, borrowed. */
const char *sxs_natives_path(const struct sxs_natives *all, uint32_t file);

/** A name for an address. Texts are borrowed until the next call. */
struct sxs_native_name {
    const char *symbol; /* demangled; "?" when the file does not tell */
    const char *source; /* "" when not known */
    uint32_t    line;   /* where the function begins */
    uint32_t    at_line; /* of the address itself, in the same file; 0 when not known */
};

/** sxs_natives_name - name the function at the ELF virtual address @address of @file. */
void sxs_natives_name(struct sxs_natives *all, uint32_t file, uint64_t address,
                      struct sxs_native_name *out);

/**
 * sxs_natives_problem - why a file could not be asked; NULL when it was or was not needed.
 * @file: from 0; *end becomes true past the last one.
 */
const char *sxs_natives_problem(const struct sxs_natives *all, uint32_t file, bool *end);

void sxs_natives_free(struct sxs_natives *all);

#endif
