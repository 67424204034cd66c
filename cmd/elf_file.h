/* SPDX-License-Identifier: MIT */
/**
 * elf_file.h - what kind of program or library a file is, without running any of it.
 */
#ifndef SXS_REPORT_ELF_FILE_H
#define SXS_REPORT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct sxs_elf_file {
    bool is_elf;     /* the rest is false when this is */
    bool is_native;  /* of this machine's kind: 64 bits, same processor */
    bool is_shared;  /* a shared library or position-independent program */
    bool has_loader; /* names a dynamic loader: a program that is not static */
    bool is_64;
};

/** sxs_elf_read - look at @path. Returns 0 (also when it is no ELF file) or an errno value. */
int sxs_elf_read(const char *path, struct sxs_elf_file *out);

/** sxs_elf_exports - does the library @path define @symbol for others? False when garbled. */
bool sxs_elf_exports(const char *path, const char *symbol);

/**
 * sxs_elf_missing - which libraries that @path needs cannot be found?
 * Asks the dynamic loader to list them, which runs no code of @path. @list: their names, separated
 * by ", ", cut to @size. Returns how many, or -1 when the loader could not be asked.
 */
int sxs_elf_missing(const char *path, char *list, size_t size);

#endif
