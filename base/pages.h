/* SPDX-License-Identifier: MIT */
/**
 * pages.h - allocate tables that are freed when a session ends.
 *
 * malloc() keeps freed memory in the arena of the thread that allocated it. After a large block was
 * freed, it allocates blocks of that size in arenas, too, instead of mapping them. Each session has new
 * threads, which may use other arenas, so each arena could keep the memory of one session: some
 * megabytes. Here each large block has a mapping of its own, and small blocks share a mapping, which
 * is unmapped when its last block is freed.
 */
#ifndef SXS_BASE_PAGES_H
#define SXS_BASE_PAGES_H

#include <stddef.h>

/** sxs_pages_alloc - allocate @size bytes, which are not set. Returns memory aligned to 16 bytes, to be
 *  freed by sxs_pages_free(), or NULL. Any thread; not signal-safe. */
void *sxs_pages_alloc(size_t size);

/** sxs_pages_zeroed - the same, with all bytes set to 0. Pages of a large block that are never written
 *  use no memory. */
void *sxs_pages_zeroed(size_t size);

/** sxs_pages_realloc - change the size of a block. @block: NULL allocates one. Returns the block, whose
 *  address may have changed, or NULL; then @block is as before. */
void *sxs_pages_realloc(void *block, size_t size);

/** sxs_pages_free - free a block. NULL does nothing. */
void sxs_pages_free(void *block);

#endif
