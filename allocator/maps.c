/* SPDX-License-Identifier: MIT */
/*
 * maps.c - mmap(), munmap() and mremap().
 *
 * Memory is what is mapped anonymously and accessible: address space that is only reserved
 * (PROT_NONE) does not count, also when mprotect() makes it accessible later. That is what runtimes
 * do with the memory of their heaps. Mappings that the next allocator makes are left out, because
 * the blocks in them are counted.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator/internal.h"
#include "allocator/mappings.h"

static _Atomic int elsewhere;

static size_t whole_pages(size_t len)
{
    size_t page = (size_t)getpagesize();
    return (len + page - 1) / page * page;
}

/* ---- what is reported ------------------------------------------------------------------------ */

static void release_range(uintptr_t lo, uintptr_t hi)
{
    uintptr_t address;
    uint64_t  id;
    while (sxs_mapping_take(lo, hi, &address, &id))
        sxs_report_freed(id);
}

static void count_mapping(uintptr_t caller, const void *at, size_t bytes)
{
    double n;
    if (!sxs_next_is_allocator(caller) && !sxs_pass(bytes) && sxs_take(bytes, &n))
        sxs_report_mapping(at, bytes, n, caller);
}

void sxs_maps_elsewhere(void)
{
    atomic_store(&elsewhere, 1);
}

void sxs_mapped(uintptr_t caller, void *at, size_t len, int prot, int flags)
{
    if (at == MAP_FAILED)
        return;
    len = whole_pages(len);
    if (flags & MAP_FIXED) /* replaces what was there */
        release_range((uintptr_t)at, (uintptr_t)at + len);
    if ((flags & MAP_ANONYMOUS) && prot != PROT_NONE)
        count_mapping(caller, at, len);
}

void sxs_unmapping(void *addr, size_t len)
{
    if ((uintptr_t)addr % (size_t)getpagesize() == 0) /* else munmap() fails */
        release_range((uintptr_t)addr, (uintptr_t)addr + whole_pages(len));
}

/* ---- the functions --------------------------------------------------------------------------- */

static void *map(uintptr_t caller, void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    void *at = sxs_next.mmap(addr, len, prot, flags, fd, off);
    sxs_mapped(caller, at, len, prot, flags);
    return at;
}

void *sxs_mmap_noted(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return map(SXS_CALLER, addr, len, prot, flags, fd, off);
}

int sxs_munmap_noted(void *addr, size_t len)
{
    sxs_unmapping(addr, len);
    return sxs_next.munmap(addr, len);
}

/* Where another library reports mappings, its function is reached by a jump, so that it finds the
 * caller's return address. */
SXS_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    if (elsewhere)
        return sxs_next.mmap(addr, len, prot, flags, fd, off);
    return map(SXS_CALLER, addr, len, prot, flags, fd, off);
}

SXS_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    if (elsewhere)
        return sxs_next.mmap(addr, len, prot, flags, fd, off);
    return map(SXS_CALLER, addr, len, prot, flags, fd, off);
}

SXS_EXPORT int munmap(void *addr, size_t len)
{
    if (!elsewhere)
        sxs_unmapping(addr, len);
    return sxs_next.munmap(addr, len);
}

/* ---- mremap ---------------------------------------------------------------------------------- */

/* The bytes of one mapping that move. The kernel may have joined several mappings that were reported:
 * those that find no place here count as freed. */
#define MOVING 16u
struct moving {
    unsigned  n;
    uintptr_t address[MOVING];
    uint64_t  id[MOVING];
};

static void take_moving(struct moving *m, uintptr_t lo, uintptr_t hi)
{
    m->n = 0;
    while (m->n < MOVING && sxs_mapping_take(lo, hi, &m->address[m->n], &m->id[m->n]))
        m->n++;
    if (m->n == MOVING)
        release_range(lo, hi);
}

/* Puts the bytes back that are in the @kept first bytes of the mapping, which was at @from and is at
 * @to. The others have been unmapped. */
static void put_moved(const struct moving *m, uintptr_t from, uintptr_t to, size_t kept)
{
    for (unsigned i = 0; i < m->n; i++) {
        uintptr_t offset = m->address[i] - from;
        int64_t   place = offset < kept ? sxs_mapping_reserve() : -1;
        if (place >= 0)
            sxs_mapping_fill(place, to + offset, m->id[i]);
        else
            sxs_report_freed(m->id[i]);
    }
}

SXS_EXPORT void *mremap(void *addr, size_t old_len, size_t new_len, int flags, ...)
{
    uintptr_t     caller = SXS_CALLER, from = (uintptr_t)addr;
    size_t        was = whole_pages(old_len), is = whole_pages(new_len);
    struct moving moving;
    va_list       more;
    void         *fixed = NULL, *to;
    va_start(more, flags);
    if (flags & MREMAP_FIXED)
        fixed = va_arg(more, void *);
    va_end(more);
    take_moving(&moving, from, from + was);
    to = sxs_next.mremap(addr, old_len, new_len, flags, fixed);
    if (to == MAP_FAILED) {
        put_moved(&moving, from, from, was);
        return to;
    }
    if (fixed)
        release_range((uintptr_t)to, (uintptr_t)to + is);
    put_moved(&moving, from, (uintptr_t)to, is < was ? is : was);
    if (is > was)
        count_mapping(caller, (char *)to + was, is - was);
    return to;
}
