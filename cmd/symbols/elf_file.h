/* SPDX-License-Identifier: MIT */
/** elf_file.h - find out what kind of program or library a file is, without running its code. */
#ifndef SXS_CMD_SYMBOLS_ELF_FILE_H
#define SXS_CMD_SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct sxs_elf_file {
    bool is_elf;     /* when false, all other fields are false */
    bool is_native;  /* for this machine: 64 bits, same processor */
    bool is_shared;  /* a shared library or a position-independent program */
    bool has_loader; /* names a dynamic loader, so it is a program that is not static */
    bool is_64;
};

/**
 * sxs_elf_read - examine the file @path.
 * Returns 0, also when the file is no ELF file, or an errno value.
 */
int sxs_elf_read(const char *path, struct sxs_elf_file *out);

/**
 * sxs_elf_exports - return true when the library @path exports a definition of @symbol.
 * Returns false when the file is garbled.
 */
bool sxs_elf_exports(const char *path, const char *symbol);

/**
 * sxs_elf_exports_of - tell which of @symbols (ends with NULL, at most 32) the program or library
 * @path exports a definition of. Returns a bit for each, the first is 1; 0 when it is garbled.
 */
unsigned sxs_elf_exports_of(const char *path, const char *const *symbols);

/**
 * sxs_elf_missing - find what @path needs and the loader does not find: libraries, and versions of
 * symbols in libraries.
 * Lets the dynamic loader list the needed libraries, which runs no code of @path.
 * @list: receives the names, separated by ", "; cut to @size bytes.
 * Returns how many are missing, or -1 when the loader could not be run.
 */
int sxs_elf_missing(const char *path, char *list, size_t size);

/** sxs_elf_mentions - return true when the file @path contains one of @texts (ends with NULL). */
bool sxs_elf_mentions(const char *path, const char *const *texts);

/** sxs_elf_needed_mention - return true when a library that @path needs contains one of @texts. */
bool sxs_elf_needed_mention(const char *path, const char *const *texts);

#endif
