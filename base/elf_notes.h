/* SPDX-License-Identifier: MIT */
/** elf.h - the ELF files the loader has mapped, and where their .eh_frame lies. */
#ifndef SXS_SAMPLER_ELF_H
#define SXS_SAMPLER_ELF_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_elf {
    uintptr_t   bias;          /* address = bias + ELF virtual address */
    uintptr_t   lo, hi;        /* its executable addresses, half-open */
    uintptr_t   eh_frame;      /* address, 0: has none */
    size_t      eh_frame_room; /* bytes up to the end of its segment: it ends there at the latest (sxs_cfi_size()) */
    uintptr_t   header;        /* address of .eh_frame_hdr; valid where eh_frame is not 0 */
    size_t      header_size;   /* bytes that can be read of it */
    uint8_t     build_id[20];
    uint8_t     build_id_size; /* 0: has none */
    const char *path;          /* the loader's name for it; empty for the program itself */
};

/**
 * sxs_elf_each - calls @on for every mapped file, with the loader's lock held: a file cannot go
 * away meanwhile. @on must not call the loader; what it is given ends with its return. Nonzero from
 * @on stops. Returns what @on returned last. Any thread, never a signal handler.
 */
int sxs_elf_each(int (*on)(const struct sxs_elf *elf, void *user), void *user);

/**
 * sxs_elf_changes - a number that differs after any file was loaded or unloaded. Cheap (no file is
 * looked at), but takes the loader's lock: never in a signal handler.
 */
uint64_t sxs_elf_changes(void);

/**
 * sxs_elf_build_id - copies the GNU build ID of a loaded file into @id. Notes are read only as far as they
 * lie in memory that the file's program headers say is loaded. Returns its size in bytes; 0: it has none.
 * Inside dl_iterate_phdr().
 */
uint8_t sxs_elf_build_id(const struct dl_phdr_info *info, uint8_t id[20]);

#endif
