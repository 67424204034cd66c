/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.c - the functions that jemalloc has beside those of the C library.
 *
 * A block of malloc() may be freed by sdallocx(), and a block of mallocx() by free(), so these functions must be
 * counted where malloc() is. A program may ask whether they are there, by weak symbols, and then finds
 * those here also without jemalloc. They do the same then by the functions of the C library.
 */
#include <stdint.h>
#include <string.h>

#include "allocator/internal.h"
#include "allocator/live.h"

/* The bits of flags that say something about the block, not about where it comes from. */
#define ALIGN_OF(flags) ((size_t)1 << ((unsigned)(flags)&63u))
#define ZERO            64 /* MALLOCX_ZERO */

static void *allocate_usual(size_t size, int flags)
{
    size_t align = ALIGN_OF(flags);
    void  *block = align > 1 ? sxs_usual.aligned_alloc(align, (size + align - 1) & ~(align - 1))
                             : sxs_usual.malloc(size);
    if (block && (flags & ZERO))
        memset(block, 0, size);
    return block;
}

static size_t usable_size(void *block)
{
    return sxs_usual.usable_size ? sxs_usual.usable_size(block) : 0;
}

static void *move_usual(void *block, size_t size, int flags)
{
    size_t was = usable_size(block);
    void  *moved = allocate_usual(size, flags);
    if (!moved)
        return NULL;
    memcpy(moved, block, was < size ? was : size);
    sxs_usual.free(block);
    return moved;
}

SXS_SLOW static void *mallocx_slow(size_t size, int flags, uintptr_t caller)
{
    double n;
    int    taken = sxs_take(size, &n);
    void  *block = sxs_next.mallocx(size, flags);
    if (taken && block)
        sxs_report_block(block, size, n, caller);
    return block;
}

SXS_EXPORT void *mallocx(size_t size, int flags);
SXS_EXPORT void *mallocx(size_t size, int flags)
{
    sxs_next_find();
    if (!sxs_next.mallocx)
        return allocate_usual(size, flags);
    return sxs_pass(size) ? sxs_next.mallocx(size, flags) : mallocx_slow(size, flags, SXS_CALLER);
}

/* Counts as freeing the old block and allocating the new one, as realloc() does. */
SXS_EXPORT void *rallocx(void *block, size_t size, int flags);
SXS_EXPORT void *rallocx(void *block, size_t size, int flags)
{
    double   n = 0;
    int      taken;
    uint64_t id;
    void    *moved;
    sxs_next_find();
    if (!sxs_next.rallocx)
        return move_usual(block, size, flags);
    taken = !sxs_pass(size) && sxs_take(size, &n);
    id = sxs_live_may_be(block) ? sxs_live_take(block) : 0;
    moved = sxs_next.rallocx(block, size, flags);
    if (moved)
        sxs_report_freed(id);
    else
        sxs_block_back(block, id);
    if (taken && moved)
        sxs_report_block(moved, size, n, SXS_CALLER);
    return moved;
}

/* Resizes a block where it is. Returns its size then, which is less than @size if there was no room. */
SXS_EXPORT size_t xallocx(void *block, size_t size, size_t extra, int flags);
SXS_EXPORT size_t xallocx(void *block, size_t size, size_t extra, int flags)
{
    size_t is;
    double n;
    sxs_next_find();
    if (!sxs_next.xallocx)
        return usable_size(block);
    is = sxs_next.xallocx(block, size, extra, flags);
    if (is < size)
        return is;
    if (sxs_live_may_be(block))
        sxs_report_freed(sxs_live_take(block));
    if (!sxs_pass(size) && sxs_take(size, &n))
        sxs_report_block(block, size, n, SXS_CALLER);
    return is;
}

SXS_EXPORT void dallocx(void *block, int flags);
SXS_EXPORT void dallocx(void *block, int flags)
{
    sxs_next_find();
    if (!sxs_next.dallocx)
        sxs_usual.free(block);
    else if (!SXS_RARELY(sxs_live_may_be(block)) || !sxs_block_leaves(block))
        sxs_next.dallocx(block, flags);
}

SXS_EXPORT void sdallocx(void *block, size_t size, int flags);
SXS_EXPORT void sdallocx(void *block, size_t size, int flags)
{
    sxs_next_find();
    if (!sxs_next.sdallocx)
        sxs_usual.free(block);
    else if (!SXS_RARELY(sxs_live_may_be(block)) || !sxs_block_leaves(block))
        sxs_next.sdallocx(block, size, flags);
}
