/* SPDX-License-Identifier: MIT */
/**
 * pages.h - allocate tables that are freed when a session ends.
 *
 * malloc() keeps freed memory in the arena of the thread that allocated it, and after a large block
 * was freed it takes blocks of that size from arenas, too. Each session has new threads, which get
 * other arenas, so a process would keep what one session frees once for each arena: some megabytes.
 * Here large blocks are mapped, and small ones share a mapping, which is given back to the system
 * when its last block is freed.
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
