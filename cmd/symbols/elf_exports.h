/* SPDX-License-Identifier: MIT */
/**
 * elf_exports.h - find exported symbols of an ELF file the way the dynamic loader does: by the hash table
 * that the dynamic section names. A name takes a few reads, even if the file claims to be very large.
 */
#ifndef SXS_CMD_SYMBOLS_ELF_EXPORTS_H
#define SXS_CMD_SYMBOLS_ELF_EXPORTS_H

#include <stdint.h>

/**
 * sxs_elf_exports_in - tell which of @symbols (ends with NULL, at most 32) a program or library exports a
 * definition of.
 * @fd: a regular file, open for reading.
 * Returns a bit for each, the first is 1; 0 when the file is garbled, or not of 64 bits.
 */
unsigned sxs_elf_exports_in(int fd, const char *const *symbols);

/**
 * sxs_elf_exports_in_memory - the same for one that a process has loaded.
 * @fd: /proc/PID/mem, open for reading. @base: the address of its first byte there.
 */
unsigned sxs_elf_exports_in_memory(int fd, uint64_t base, const char *const *symbols);

#endif
