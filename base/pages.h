/* SPDX-License-Identifier: MIT */
/**
 * pages.h - allocate large tables that are freed when a session ends.
 *
 * malloc() keeps freed memory in the arena of the thread that allocated it, and after a large block
 * was freed it takes blocks of that size from arenas, too. So a process would keep megabytes after
 * each session. Blocks of 64 KiB and more are mapped here, and given back to the system when freed.
 */
#ifndef SXS_BASE_PAGES_H
#define SXS_BASE_PAGES_H

#include <stddef.h>

/** sxs_pages_alloc - allocate @size bytes, which are not set. Returns memory aligned to 16 bytes, to be
 *  freed by sxs_pages_free(), or NULL. Any thread; not signal-safe. */
void *sxs_pages_alloc(size_t size);

/** sxs_pages_realloc - change the size of a block. @block: NULL allocates one. Returns the block, whose
 *  address may have changed, or NULL; then @block is as before. */
void *sxs_pages_realloc(void *block, size_t size);

/** sxs_pages_free - free a block. NULL does nothing. */
void sxs_pages_free(void *block);

#endif
