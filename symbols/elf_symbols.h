/* SPDX-License-Identifier: MIT */
/**
 * symbols/elf_symbols.h - the symbol table (.symtab) of an ELF file, for names of functions that
 * are not exported.
 *
 * The file is read into memory and closed at once: no descriptor stays open, nothing of the file is
 * mapped, and no other library is needed in the host.
 */
#ifndef SXS_SYMBOLS_ELF_SYMBOLS_H
#define SXS_SYMBOLS_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct sxs_elf_symbols;

/**
 * sxs_elf_symbols_read - read the functions in the symbol table of the file @path.
 * @header: the ELF header that the file must begin with, which is that of the loaded image: a file
 *          that was replaced since it was loaded would give wrong names. NULL: not compared.
 * @header_size: bytes.
 * Returns the table, owned by the caller, or NULL: not a regular file, not an ELF file of this
 * machine, damaged, without a symbol table, another file than the loaded one, or no memory. Any
 * thread; not signal-safe. */
struct sxs_elf_symbols *sxs_elf_symbols_read(const char *path, const void *header,
                                             size_t header_size);

/**
 * sxs_elf_symbols_find - find the function whose range contains @address.
 * @address: virtual address in the file, without the load bias.
 * @start: receives the address of the function.
 * Returns the name, borrowed from @table, or NULL. Any thread; signal-safe. */
const char *sxs_elf_symbols_find(const struct sxs_elf_symbols *table, uint64_t address,
                                 uint64_t *start);

/** sxs_elf_symbols_free - free @table, which may be NULL. */
void sxs_elf_symbols_free(struct sxs_elf_symbols *table);

#endif
