/* SPDX-License-Identifier: MIT */
/**
 * guarded.h - loads from memory that may not be there, without asking the kernel first.
 *
 * A guarded load is one instruction with an entry in a table: its address, and where to go on when it
 * faults. The signal router looks a faulting instruction up in that table before it routes a SIGSEGV
 * or SIGBUS (sxs_signals.guard), and lets the thread go on there. A load that does not fault costs
 * what any load costs.
 *
 * Without the router in front of the process's SIGSEGV and SIGBUS a guarded load that faults ends in
 * somebody else's handler: sxs_guarded_reliable() tells. Memory that is certain to be mapped may be
 * read either way.
 */
#ifndef SXS_BASE_GUARDED_H
#define SXS_BASE_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** One entry: two addresses, each relative to the field that holds it. */
struct sxs_guarded_load {
    int32_t load;  /* the instruction that may fault */
    int32_t go_on; /* the instruction to continue with when it does */
};

/** All guarded loads of one library. */
struct sxs_guarded_code {
    const struct sxs_guarded_load *begin, *end; /* static; in no order */
};

/* The table's entry for the instruction at local label 1, which goes on at @to. */
#define SXS_GUARDED_ENTRY(to)                        \
    ".pushsection sxs_guarded, \"a\", @progbits\n\t" \
    ".balign 4\n\t"                                  \
    ".long 1b - .\n\t"                               \
    ".long " to " - .\n\t"                           \
    ".popsection\n\t"

/**
 * SXS_GUARDED_LOAD - @value (an uintptr_t variable) becomes the word at address @at + @offset.
 * @offset is a constant. @gone: a label of the same function, jumped to when nothing can be read there;
 * @value is then undefined.
 */
#define SXS_GUARDED_LOAD(value, at, offset, gone)                                         \
    __asm__ goto("1: movq %c[off](%[from]), %[to]\n\t" SXS_GUARDED_ENTRY("%l[" #gone "]") \
                 : [to] "=r"(value)                                                       \
                 : [from] "r"(at), [off] "i"(offset)                                      \
                 :                                                                        \
                 : gone)

/**
 * SXS_GUARDED_TRY - @value (an uintptr_t variable) becomes the word at address @at + @offset, or
 * SXS_GUARDED_GONE when nothing can be read there. @offset is a constant. Without a branch: for loops
 * in which a jump out of each load costs more than to look at the value later.
 */
#define SXS_GUARDED_GONE UINTPTR_MAX
#define SXS_GUARDED_TRY(value, at, offset)                           \
    __asm__ volatile("1: movq %c[off](%[from]), %[to]\n\t"           \
                     "2:\n\t"                                        \
                     ".pushsection .text.unlikely, \"ax\"\n\t"       \
                     "3: movq $-1, %[to]\n\t"                       \
                     "jmp 2b\n\t"                                   \
                     ".popsection\n\t" SXS_GUARDED_ENTRY("3b")      \
                     : [to] "=r"(value)                              \
                     : [from] "r"(at), [off] "i"(offset))

#ifdef __cppcheck__ /* which cannot read either of them */
#undef SXS_GUARDED_LOAD
#undef SXS_GUARDED_TRY
#define SXS_GUARDED_LOAD(value, at, offset, gone)                   \
    do {                                                            \
        if (!(at))                                                  \
            goto gone;                                              \
        (value) = *(const uintptr_t *)((uintptr_t)(at) + (offset)); \
    } while (0)
#define SXS_GUARDED_TRY(value, at, offset) \
    ((value) = *(const uintptr_t *)((uintptr_t)(at) + (offset)))
#endif

/** The table of the library this is linked into. */
const struct sxs_guarded_code *sxs_guarded_code(void);

/** sxs_guarded_rely - from now on faults of guarded loads are (@yes) or are not certain to reach the
 *  router. Any thread; signal-safe. */
SXS_SIGSAFE void sxs_guarded_rely(int yes);

/** sxs_guarded_relied - what sxs_guarded_rely() last said; 0 at first. Whether the calling thread
 *  blocks SIGSEGV or SIGBUS is the caller's to know. Any thread; signal-safe. */
SXS_SIGSAFE int sxs_guarded_relied(void);

/** sxs_guarded_reliable - may a guarded load of the calling thread fault? Not while it blocks SIGSEGV
 *  or SIGBUS: then the kernel ends the process. One system call when the router is there, none
 *  otherwise. Any thread; signal-safe; keeps errno. */
SXS_SIGSAFE int sxs_guarded_reliable(void);

/**
 * sxs_guarded_copy - copies up to @size bytes from @from to @to by guarded loads.
 * Returns how many were copied: fewer than @size when what follows cannot be read.
 * Only while sxs_guarded_reliable(). Any thread; signal-safe; no system call.
 */
SXS_SIGSAFE size_t sxs_guarded_copy(void *to, uintptr_t from, size_t size);

#endif
