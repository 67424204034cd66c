/* SPDX-License-Identifier: MIT */
/** internal.h - what the files of libsxsprof-malloc.so share. */
#ifndef SXS_ALLOCATOR_INTERNAL_H
#define SXS_ALLOCATOR_INTERNAL_H

#include <sys/types.h>

#include "allocator/allocator.h"
#include "allocator/pace.h"

#define SXS_CALLER ((uintptr_t)__builtin_return_address(0))

#define SXS_RARELY(condition) __builtin_expect((condition) != 0, 0)

/* A part of a function that few calls take. */
#define SXS_SLOW __attribute__((noinline, cold))

/* ---- next.c ---------------------------------------------------------------------------------- */

/** The functions of the next library that has them: the C library's, or another allocator's. Before
 *  they are known, functions that find them first. */
struct sxs_next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void (*free)(void *);
    void *(*mallocx)(size_t, int); /* these five are jemalloc's; NULL: there is none */
    void *(*rallocx)(void *, size_t, int);
    size_t (*xallocx)(void *, size_t, size_t, int);
    void (*dallocx)(void *, int);
    void (*sdallocx)(void *, size_t, int);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
};
extern struct sxs_next sxs_next;

/** The functions that other libraries call by these names: those of this library, or those of a program
 *  that has its own. Blocks that leave this library uncounted come from them and go to them. */
struct sxs_usual {
    void *(*malloc)(size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void (*free)(void *);
    size_t (*usable_size)(void *); /* NULL: not found yet */
};
extern struct sxs_usual sxs_usual;

/** sxs_next_find - find the next functions. Returns 1, or 0 while they are being found: by this
 *  thread, when the search itself allocates, or by another thread. */
int sxs_next_find(void);

/** sxs_next_dlsym - return the next dlsym(). */
void *(*sxs_next_dlsym(void))(void *, const char *);

/** sxs_next_function - return the next function of this name after this library, or NULL. */
void *sxs_next_function(const char *name);

/** sxs_next_is_allocator - tell whether an address is in the library of the next malloc(). */
int sxs_next_is_allocator(uintptr_t address);

/** sxs_early_size - return the size of a block that was allocated while the next functions were being
 *  found, or 0 if @block is no such block. Such a block is never freed. */
size_t sxs_early_size(const void *block);

/* ---- blocks.c -------------------------------------------------------------------------------- */

/** sxs_block_leaves - report that a block is about to be freed, if its allocation was reported. Returns 0, or
 *  1 if the block must not be freed: see sxs_early_size(). */
int sxs_block_leaves(const void *block);

/** sxs_block_back - report that a block was not freed after sxs_block_leaves(). @id: the number that
 *  sxs_live_take() returned. */
void sxs_block_back(const void *block, uint64_t id);

/* ---- operators.c ----------------------------------------------------------------------------- */

/** sxs_operator_replace - return the operator here that calls @found, or NULL if @found is no
 *  operator new or delete, or one that is not counted here. */
void *sxs_operator_replace(uintptr_t found, const char *name);

/* ---- report.c -------------------------------------------------------------------------------- */

/** The state of a thread. */
struct sxs_own {
    uint64_t remaining; /* bytes to allocate before the next one that is taken */
    uint64_t base;      /* sampling interval that the listener wants; 0: there was no listener */
    uint64_t interval;  /* the one with which `remaining` was drawn; see pace.h */
    uint64_t random;    /* see sampling.h */
    struct sxs_thread_pace pace;
    uintptr_t without_memory; /* the caller of the last operator new that found no memory */
    int       searching;      /* 1: looking for the operators of C++ */
    int       inside;         /* nonzero: in a function of the listener, or looking up functions */
};
extern SXS_TLS struct sxs_own sxs_own;

/** sxs_pass - return 1 if an allocation is certain not to be reported; it is counted then. For
 *  nearly all allocations, nothing else is done. */
static inline int sxs_pass(size_t bytes)
{
    if (SXS_RARELY(bytes > sxs_own.remaining))
        return 0;
    sxs_own.remaining -= bytes;
    return 1;
}

/** sxs_take - decide about an allocation for which sxs_pass() returned 0. Returns 1 if it is to be
 *  reported, as *@n allocations. */
int sxs_take(size_t bytes, double *n);

/** sxs_report_block - report a block that sxs_take() chose. Keeps errno. */
void sxs_report_block(const void *block, size_t bytes, double n, uintptr_t caller);

/** sxs_report_mapping - report a mapping that sxs_take() chose. Keeps errno. */
void sxs_report_mapping(const void *at, size_t bytes, double n, uintptr_t caller);

/** sxs_report_freed - report that an allocation is gone. @id: 0: nothing is done. Keeps errno. */
void sxs_report_freed(uint64_t id);

/* ---- maps.c ---------------------------------------------------------------------------------- */

/** sxs_mmap_noted, sxs_munmap_noted - mmap() and munmap() of the next library, reported here also if
 *  another library reports its own calls. */
void *sxs_mmap_noted(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int   sxs_munmap_noted(void *addr, size_t len);

/* Members of struct sxs_allocator. */
void sxs_maps_elsewhere(void);
void sxs_mapped(uintptr_t caller, void *at, size_t len, int prot, int flags);
void sxs_unmapping(void *addr, size_t len);

#endif
