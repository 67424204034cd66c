/* SPDX-License-Identifier: MIT */
/** elf_notes.h - list the ELF files that the loader has mapped: addresses, .eh_frame, build ID. */
#ifndef SXS_BASE_ELF_NOTES_H
#define SXS_BASE_ELF_NOTES_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** One mapped ELF file. */
struct sxs_elf {
    uintptr_t   bias;          /* address = bias + ELF virtual address */
    uintptr_t   lo, hi;        /* range of all executable segments; bytes, half-open */
    uintptr_t   eh_frame;      /* address of .eh_frame; 0: the file has none */
    size_t      eh_frame_room; /* bytes from eh_frame to the end of its segment: an upper limit of
                                * the size of .eh_frame; sxs_cfi_size() finds the size */
    uintptr_t   header;        /* address of .eh_frame_hdr; valid if eh_frame is not 0 */
    size_t      header_size;   /* readable bytes of .eh_frame_hdr */
    uint8_t     build_id[20];
    uint8_t     build_id_size; /* bytes; 0: the file has no build ID */
    const char *path;          /* the loader's name of the file; empty for the program itself */
};

/**
 * sxs_elf_each - call @on for every mapped file that has executable segments.
 *
 * The loader's lock is held during the calls, so that no file can be unloaded meanwhile. @on must
 * not call the loader. @elf and the strings in it are valid until @on returns. A nonzero result of
 * @on ends the loop.
 * Returns the last result of @on. Any thread; not signal-safe.
 */
int sxs_elf_each(int (*on)(const struct sxs_elf *elf, void *user), void *user);

/**
 * sxs_elf_changes - return a number that changes whenever a file is loaded or unloaded.
 * Cheap, because it reads no file, but it takes the loader's lock: not signal-safe.
 */
uint64_t sxs_elf_changes(void);

/**
 * sxs_elf_build_id - copy the GNU build ID of a loaded file to @id.
 * Reads only notes that lie in memory that is loaded according to the file's program headers.
 * Returns the size of the build ID in bytes, or 0 if the file has none. To be called inside a
 * callback of dl_iterate_phdr(), or with a copy of the notes. Signal-safe.
 */
SXS_SIGSAFE uint8_t sxs_elf_build_id(const struct dl_phdr_info *info, uint8_t id[20]);

#endif
