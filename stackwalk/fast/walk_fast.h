/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/walk_fast.h - the fast walk: the stack of the interrupted thread, taken in its
 * signal handler. */
#ifndef SXS_STACKWALK_FAST_WALK_FAST_H
#define SXS_STACKWALK_FAST_WALK_FAST_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/base.h"
#include "session/format/samples.h"

/**
 * sxs_find_code_fn - whether @ip lies in code that no ELF file describes: JIT code, stubs,
 * precompiled images.
 * @start: set to the beginning of the function that contains @ip, if that is known; otherwise
 *   left unchanged.
 * Returns 1 or 0. Called in the signal handler, so it must be signal-safe. The memory of the
 * code may become unreadable at any time. */
typedef int (*sxs_find_code_fn)(uintptr_t ip, uintptr_t *start);

struct sxs_walk_counts {
    uint64_t misses;    /* frames whose rule was not in the cache */
    uint64_t guesses;   /* frames left by a rule from code_scan.h that the stack confirmed */
    uint64_t refuted;   /* such rules that the stack did not confirm; rbp was followed instead */
    uint64_t funclets;  /* funclets: frames that run with the rbp of another frame */
    uint64_t no_tables; /* frames in ELF files without a rule; rbp was followed */
    uint64_t unlisted;  /* frames in code that neither find_code nor any ELF file contains */
};

struct sxs_walk_limits {
    /* bytes, half-open; stack words are read only in this range */
    uintptr_t               stack_lo, stack_hi;
    uint64_t                cycles;       /* time the walk may take (walk_clock.h); 0: no limit */
    size_t                  max;          /* capacity of ips, in elements */
    sxs_find_code_fn        find_code;    /* NULL: all readable memory counts as code */
    struct sxs_walk_counts *counts;       /* added to; not shared with other threads; may be NULL */
    /* 1: copy the stack through the kernel, because it may have unmapped parts and the fault of
     * a guarded load could not be handled here. */
    int                     checked;
};

/**
 * sxs_walk_fast - walk the stack from the point where @uc was interrupted, youngest frame first.
 * @ips: receives the interrupted IP, then return addresses. The frame after a signal frame (a
 *   return into __restore_rt), or after a runtime's frame for a fault, was interrupted too; its
 *   IP is stored plus one. So every IP but the first is named by the address before it.
 * @end: receives the reason why there are no more frames. Never NULL.
 * Returns the number of IPs stored; at least 1 if limits->max is at least 1.
 * sxs_tables_refresh() must have been called before; otherwise frames in ELF files are left by
 * rbp. If part of the memory between stack_lo and stack_hi is unmapped, the walk ends there.
 * This is detected by a guarded load (base/guarded.h), whose fault must reach the signal router,
 * or, with limits->checked, by process_vm_readv, some 400 ns for each 256 bytes of stack read.
 * Async-signal-safe: no lock, no allocation, no loader, no thread-local storage; changes errno.
 * 4 to 7 ns for a frame seen before, plus the time of memory accesses; 0.2 to 3 us for a new
 * one. */
SXS_SIGSAFE size_t sxs_walk_fast(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                 uintptr_t *ips, enum sxs_sample_end *end);

/**
 * sxs_walk_fast_sps - as sxs_walk_fast(), and also report the stack pointers.
 * @sps: receives the stack pointer inside each frame; the same number of elements as @ips. */
SXS_SIGSAFE size_t sxs_walk_fast_sps(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                     uintptr_t *ips, uintptr_t *sps, enum sxs_sample_end *end);

/**
 * sxs_walk_forget - invalidate the cached rules, because code outside of ELF files was freed or
 * changed. Signal-safe. (Loaded and unloaded files are noticed by sxs_tables_refresh().) */
SXS_SIGSAFE void sxs_walk_forget(void);

#endif
