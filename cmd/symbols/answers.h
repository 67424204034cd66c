/* SPDX-License-Identifier: MIT */
/**
 * answers.h - read the answers of a worker (worker.h). A hostile file can have taken control of the worker, so
 * everything in an answer is checked: sizes, counts, texts, and the kind of its descriptor.
 *
 * Each function returns false when the answer is none that a worker gives; @out is undefined then.
 */
#ifndef SXS_CMD_SYMBOLS_ANSWERS_H
#define SXS_CMD_SYMBOLS_ANSWERS_H

#include "cmd/symbols/elf_names.h"
#include "cmd/symbols/pdb_search.h"

#include <stdbool.h>
#include <stddef.h>

/** sxs_elf_opened_read - read the answer to a request to open an ELF file, @size bytes. */
bool sxs_elf_opened_read(const void *bytes, size_t size, struct sxs_elf_opened *out);

/**
 * sxs_elf_named_read - read the answer to a request for a name, @size bytes. @texts: receives where the two
 * texts are in @bytes; they have no zeros.
 */
bool sxs_elf_named_read(const void *bytes, size_t size, struct sxs_elf_named *out,
                        const char **texts);

/**
 * sxs_pdb_found_read - read the answer to a search for a PDB, @size bytes. @fd: the descriptor that came with
 * it, borrowed, or -1. With out->size, it is a file in memory of this size, which nobody can change
 * or cut. @wrong: receives the text that follows; its size is the rest of @size, and it has no zeros.
 */
bool sxs_pdb_found_read(const void *bytes, size_t size, int fd, struct sxs_pdb_found *out,
                        const char **wrong);

#endif
