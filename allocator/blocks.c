/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - malloc(), free() and the functions related to them.
 *
 * Each function has a part that nearly all calls take, which only counts, and a slow part for an
 * allocation that may be reported or a block that may have been. The slow parts are functions of
 * their own, so that the first part needs no stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/internal.h"
#include "allocator/live.h"

/* ---- allocation ------------------------------------------------------------------------------ */

/* @next: a member of sxs_next, which sxs_take() may fill in. */
SXS_SLOW static void *block_slow(void *(**next)(size_t), size_t size, uintptr_t caller)
{
    double n;
    int    taken = sxs_take(size, &n);
    void  *block = (*next)(size);
    if (taken && block)
        sxs_report_block(block, size, n, caller);
    return block;
}

SXS_SLOW static void *aligned_slow(void *(**next)(size_t, size_t), size_t align, size_t size,
                                   uintptr_t caller)
{
    double n;
    int    taken = sxs_take(size, &n);
    void  *block = (*next)(align, size);
    if (taken && block)
        sxs_report_block(block, size, n, caller);
    return block;
}

SXS_EXPORT void *malloc(size_t size)
{
    return sxs_pass(size) ? sxs_next.malloc(size) : block_slow(&sxs_next.malloc, size, SXS_CALLER);
}

SXS_SLOW static void *calloc_slow(size_t n, size_t size, uintptr_t caller)
{
    double weight;
    int    taken = sxs_take(n * size, &weight);
    void  *block = sxs_next.calloc(n, size);
    if (taken && block)
        sxs_report_block(block, n * size, weight, caller);
    return block;
}

/* If the product is too large, the next calloc() fails. */
SXS_EXPORT void *calloc(size_t n, size_t size)
{
    return sxs_pass(n * size) ? sxs_next.calloc(n, size) : calloc_slow(n, size, SXS_CALLER);
}

SXS_EXPORT void *memalign(size_t align, size_t size);
SXS_EXPORT void *memalign(size_t align, size_t size)
{
    return sxs_pass(size) ? sxs_next.memalign(align, size)
                          : aligned_slow(&sxs_next.memalign, align, size, SXS_CALLER);
}

SXS_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return sxs_pass(size) ? sxs_next.aligned_alloc(align, size)
                          : aligned_slow(&sxs_next.aligned_alloc, align, size, SXS_CALLER);
}

SXS_SLOW static int posix_memalign_slow(void **out, size_t align, size_t size, uintptr_t caller)
{
    double n;
    int    taken = sxs_take(size, &n);
    int    err = sxs_next.posix_memalign(out, align, size);
    if (taken && !err)
        sxs_report_block(*out, size, n, caller);
    return err;
}

SXS_EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    return sxs_pass(size) ? sxs_next.posix_memalign(out, align, size)
                          : posix_memalign_slow(out, align, size, SXS_CALLER);
}

SXS_EXPORT void *valloc(size_t size)
{
    return sxs_pass(size) ? sxs_next.valloc(size) : block_slow(&sxs_next.valloc, size, SXS_CALLER);
}

SXS_EXPORT void *pvalloc(size_t size);
SXS_EXPORT void *pvalloc(size_t size)
{
    return sxs_pass(size) ? sxs_next.pvalloc(size)
                          : block_slow(&sxs_next.pvalloc, size, SXS_CALLER);
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* A block that was reported is removed from the table before it is freed, because after that another
 * thread may get the same address. */
int sxs_block_leaves(const void *block)
{
    if (sxs_early_size(block))
        return 1;
    sxs_report_freed(sxs_live_take(block));
    return 0;
}

SXS_SLOW static void free_slow(void *block)
{
    if (!sxs_block_leaves(block))
        sxs_next.free(block);
}

SXS_EXPORT void free(void *block)
{
    if (SXS_RARELY(sxs_live_may_be(block)))
        free_slow(block);
    else
        sxs_next.free(block);
}

/* The next allocator may lack these, and they do no more than free(). */
SXS_EXPORT void free_sized(void *block, size_t size);
SXS_EXPORT void free_sized(void *block, size_t size)
{
    (void)size;
    free(block);
}

SXS_EXPORT void free_aligned_sized(void *block, size_t align, size_t size);
SXS_EXPORT void free_aligned_sized(void *block, size_t align, size_t size)
{
    (void)align, (void)size;
    free(block);
}

SXS_EXPORT void cfree(void *block);
SXS_EXPORT void cfree(void *block)
{
    free(block);
}

/* ---- both ------------------------------------------------------------------------------------ */

void sxs_block_back(const void *block, uint64_t id)
{
    int64_t place = id ? sxs_live_reserve(block) : -1;
    if (place >= 0)
        sxs_live_fill(place, block, id);
}

static void *move_early(const void *block, size_t old_size, size_t size)
{
    void *moved = sxs_next.malloc(size);
    if (moved)
        memcpy(moved, block, old_size < size ? old_size : size);
    return moved;
}

/* What realloc() returns counts as a new allocation, and the old block as freed, also if the address
 * is the same. */
SXS_SLOW static void *realloc_slow(void *block, size_t size, uintptr_t caller)
{
    double   n = 0;
    int      taken = !sxs_pass(size) && sxs_take(size, &n);
    size_t   early = sxs_early_size(block);
    uint64_t id = early ? 0 : sxs_live_take(block);
    void    *moved = early ? move_early(block, early, size) : sxs_next.realloc(block, size);
    if (!moved && size)
        sxs_block_back(block, id);
    else
        sxs_report_freed(id);
    if (taken && moved)
        sxs_report_block(moved, size, n, caller);
    return moved;
}

SXS_EXPORT void *realloc(void *block, size_t size)
{
    return SXS_RARELY(sxs_live_may_be(block)) || !sxs_pass(size)
               ? realloc_slow(block, size, SXS_CALLER)
               : sxs_next.realloc(block, size);
}

SXS_EXPORT void *reallocarray(void *block, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return SXS_RARELY(sxs_live_may_be(block)) || !sxs_pass(all)
               ? realloc_slow(block, all, SXS_CALLER)
               : sxs_next.realloc(block, all);
}
