/* SPDX-License-Identifier: MIT */
/**
 * allocator.h - what libsxsprof-malloc.so, a preloaded library that stands before the functions of
 * the C library for memory, offers to the other libraries.
 *
 * The library samples by bytes: if the sampling interval is D, each byte that the process allocates
 * is taken with probability 1/D, independently of all others, and an allocation is reported when one
 * of its bytes is taken. So an allocation of s bytes is reported with probability
 * p = 1 - exp(-s/D), and stands for 1/p allocations of its size. D grows for a time when very many
 * are reported (allocator/pace.h).
 */
#ifndef SXS_ALLOCATOR_ALLOCATOR_H
#define SXS_ALLOCATOR_ALLOCATOR_H

#include "base/base.h"

/** An allocation that is reported. */
struct sxs_allocation {
    uint64_t  bytes;    /* as requested; of a mapping: whole pages */
    double    n;        /* number of allocations of this size that it stands for */
    uintptr_t caller;   /* address of code in the function that called malloc() or the like */
    int       mapped;   /* 1: by mmap() or mremap() */
    int followed; /* 1: its end will be reported by freed(). 0: there was no room to remember it. */
};

/** What allocations are reported to. The functions may be called on any thread, in signal handlers,
 *  and while locks of the process's allocator, of the loader or of a runtime are held. Functions for
 *  memory that they call are not sampled. They may change errno. */
struct sxs_allocator_listener {
    /** allocated - @a: borrowed for the call. Returns a number for freed(), or 0: its end is not
     *  reported. */
    uint64_t (*allocated)(const struct sxs_allocation *a);
    /** freed - the memory of the allocation @id has been freed or unmapped, or moved by
     *  realloc(). Called before another allocation can get the same address. */
    void (*freed)(uint64_t id);
};

/** Counts since the process started. */
struct sxs_allocator_counts {
    uint64_t n_reported;     /* allocations */
    uint64_t n_not_followed; /* of these, those that were not followed, for lack of room */
};

struct sxs_allocator {
    /** listen - report allocations from now on. @listener: static. @interval: the sampling interval in
     *  bytes, > 0. Returns 0, or -1 if there is a listener already. Releases of what was reported to an earlier
     *  listener are not reported, except those in progress. */
    int (*listen)(const struct sxs_allocator_listener *listener, uint64_t interval);
    /** leave - report nothing any more. Other threads may still be inside a function of the listener.
     *  Signal-safe; callable in a forked child. */
    void (*leave)(void);
    void (*counts)(struct sxs_allocator_counts *out);
    /** remaining - return a number that changes with each allocation of the calling thread, of 1 to
     *  1000 bytes, that this library sees; to find out whether the process calls its malloc(). For
     *  use without a listener. */
    uint64_t (*remaining)(void);
    /** maps_elsewhere - from now on, mapped() and unmapping() are called by a library that stands
     *  before this one; so this library's own mmap() and munmap() only pass calls on. */
    void (*maps_elsewhere)(void);
    /** mapped - mmap() was called. @caller: address of code in the function that called it. @at: the
     *  result. The other arguments: as given to mmap(). Keeps errno. */
    void (*mapped)(uintptr_t caller, void *at, size_t len, int prot, int flags);
    /** unmapping - munmap() will be called. Keeps errno. */
    void (*unmapping)(void *addr, size_t len);
};

/** sxsprof_allocator_v1 - return the table. Exported by libsxsprof-malloc.so. Signal-safe. */
SXS_EXPORT const struct sxs_allocator *sxsprof_allocator_v1(void) __attribute__((weak));

#define SXS_ALLOCATOR_SYMBOL "sxsprof_allocator_v1"

#endif
