/* SPDX-License-Identifier: MIT */
/**
 * memory.h - copies of pieces of memory, made while a runtime is stopped.
 *
 * Objects move and change as soon as the runtime runs again. So their bytes are copied while it is
 * stopped, and shown later from the copies: outside of the pieces there is nothing to read.
 */
#ifndef SXS_VALUES_MEMORY_H
#define SXS_VALUES_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define SXS_MEMORY_BYTES  (1024u * 1024u) /* of all pieces together, at most */
#define SXS_MEMORY_PIECES 4096u

struct sxs_memory_piece {
    uint64_t       address; /* where the bytes were */
    size_t         size;
    unsigned char *bytes;     /* owned */
    int            is_object; /* 1: an object begins there */
};

/** Zeroed it is empty. One thread at a time. */
struct sxs_memory {
    struct sxs_memory_piece *all; /* owned; ordered by address; they may overlap */
    size_t                   n, max, bytes;
};

/** sxs_memory_add - copy @size bytes at @address, by guarded loads. @is_object: an object
 *  begins there. Returns 0; 1 when the piece was
 *  there already; -1 when the bytes cannot be read, or there is no room or no memory. */
int sxs_memory_add(struct sxs_memory *memory, uint64_t address, size_t size, int is_object);

/** sxs_memory_read - copy @size bytes that were at @from. Returns @size; 0 when no piece has all of
 *  them. */
size_t sxs_memory_read(const struct sxs_memory *memory, void *to, uint64_t from, size_t size);

/** sxs_memory_free - drop all pieces; @memory is empty then. */
void sxs_memory_free(struct sxs_memory *memory);

#endif
