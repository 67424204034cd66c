/* SPDX-License-Identifier: MIT */
/** walk_fast.h - the stack of the interrupted thread, from within the signal's handler. */
#ifndef SXS_SAMPLER_WALK_FAST_H
#define SXS_SAMPLER_WALK_FAST_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "manager/base/base.h"
#include "record/samples.h"

/**
 * A code range that no ELF file describes: JIT code, stubs, precompiled images. Returns 1 if @ip
 * lies in one, else 0. @start: set to where its function begins if that is known (left alone if
 * not). Runs in the handler: signal-safe. What it calls code need not stay readable.
 */
typedef int (*sxs_find_code_fn)(uintptr_t ip, uintptr_t *start);

struct sxs_walk_counts {
    uint64_t misses;    /* frames whose rule was not cached */
    uint64_t guesses;   /* frames left by reading the code, first confirmed on the stack */
    uint64_t refuted;   /* such readings that the stack did not confirm: rbp was followed */
    uint64_t funclets;  /* frames whose rbp belongs to another frame than their own */
    uint64_t no_tables; /* module code without a rule, left by rbp */
    uint64_t unlisted;  /* frames in memory that find_code did not know, nor any file */
};

struct sxs_walk_limits {
    uintptr_t               stack_lo, stack_hi; /* bytes, half-open; nothing outside is read */
    uint64_t                cycles; /* that the walk may take (walk_clock.h); 0: any number */
    size_t                  max;          /* elements of ips */
    sxs_find_code_fn        find_code;    /* NULL: whatever can be read counts as code */
    struct sxs_walk_counts *counts;       /* added to, this thread's own; may be NULL */
    int                     checked;      /* the kernel is asked for each part of the stack: there may be
                                             holes in it, and a guarded load must not fault here */
};

/**
 * sxs_walk_fast - return addresses from where @uc was interrupted, youngest first.
 * @ips: the interrupted IP, then return addresses; behind a signal frame (the return into
 *     __restore_rt) or a runtime's frame for a fault an interrupted IP plus one: like all but the
 *     first, it is named by the address before it.
 * @end: receives why there are no more. Never NULL.
 * Returns how many were stored, at least 1 if limits->max is. Async-signal-safe: no lock, no
 * allocation, no loader, no thread-local storage; changes errno. 4 to 7 ns a frame seen before,
 * plus what the memory takes; 0.2 to 3 us for one seen first. sxs_tables_refresh() must have run,
 * or module code is left by rbp. A hole between stack_lo and stack_hi ends the walk: by a guarded
 * load (manager/base/guarded.h), whose fault has to reach the router, or with limits->checked by
 * process_vm_readv, some 400 ns for each 256 bytes of stack that are looked at.
 */
SXS_SIGSAFE size_t sxs_walk_fast(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                 uintptr_t *ips, enum sxs_sample_end *end);

/**
 * sxs_walk_fast_sps - the same, and where each frame is.
 * @sps: receives, for each of @ips, the stack pointer inside that frame; as many elements.
 */
SXS_SIGSAFE size_t sxs_walk_fast_sps(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                     uintptr_t *ips, uintptr_t *sps, enum sxs_sample_end *end);

/**
 * sxs_walk_forget - code outside of ELF files was freed or changed: its cached rules are not used
 * any more. Signal-safe. (Loaded and unloaded files are noticed by sxs_tables_refresh().)
 */
SXS_SIGSAFE void sxs_walk_forget(void);

#endif
