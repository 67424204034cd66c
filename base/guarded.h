/* SPDX-License-Identifier: MIT */
/**
 * guarded.h - load from memory that may be unmapped, without a system call.
 *
 * A guarded load is one instruction with an entry in a table. The entry has the address of the
 * instruction and the address at which the thread continues if the instruction faults. The signal
 * router looks a faulting instruction up in that table before it routes a SIGSEGV or SIGBUS
 * (sxs_signals.guard), and makes the thread continue at the second address. A guarded load that
 * does not fault costs as much as an ordinary load.
 *
 * If the router is not the process's handler of SIGSEGV and SIGBUS, a fault of a guarded load is
 * delivered to another handler. sxs_guarded_reliable() tells whether guarded loads may fault.
 * Memory that is certain to be mapped may always be read by a guarded load.
 */
#ifndef SXS_BASE_GUARDED_H
#define SXS_BASE_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** One entry of the table: two addresses, each relative to the field that holds it. */
struct sxs_guarded_load {
    int32_t load;  /* the instruction that may fault */
    int32_t go_on; /* the instruction to continue with after a fault */
};

/** The table of all guarded loads of one library. */
struct sxs_guarded_code {
    const struct sxs_guarded_load *begin, *end; /* static; not sorted */
};

/* Adds an entry to the table: for the instruction at local label 1, continuing at @to. */
#define SXS_GUARDED_ENTRY(to)                        \
    ".pushsection sxs_guarded, \"a\", @progbits\n\t" \
    ".balign 4\n\t"                                  \
    ".long 1b - .\n\t"                               \
    ".long " to " - .\n\t"                           \
    ".popsection\n\t"

/**
 * SXS_GUARDED_LOAD - load the word at address @at + @offset into @value.
 * @value: a variable of type uintptr_t.
 * @offset: bytes; a constant.
 * @gone: a label of the same function. If the memory cannot be read, control goes to this label and
 *        @value keeps what it had.
 *
 * Each way out of the instruction leads to a block of its own, which the empty statements keep. GCC
 * before 11.5, 12.4 and 13.3 copies the output of an `asm goto` too late where a way out leads
 * directly to a block at which several values of one variable meet: the output, which is undefined
 * there, then takes the place of the value that the code at @gone sets.
 */
#define SXS_GUARDED_LOAD(value, at, offset, gone)                                   \
    do {                                                                            \
        __label__ sxs_gone;                                                         \
        uintptr_t sxs_got;                                                          \
        __asm__ volatile goto(                                                      \
            "1: movq %c[off](%[from]), %[to]\n\t" SXS_GUARDED_ENTRY("%l[sxs_gone]") \
            : [to] "=r"(sxs_got)                                                    \
            : [from] "r"(at), [off] "i"(offset)                                     \
            :                                                                       \
            : sxs_gone);                                                            \
        __asm__ volatile("");                                                       \
        (value) = sxs_got;                                                          \
        break;                                                                      \
    sxs_gone:                                                                       \
        __asm__ volatile("");                                                       \
        goto gone;                                                                  \
    } while (0)

/**
 * SXS_GUARDED_TRY - load the word at address @at + @offset into @value, without a branch.
 * @value: a variable of type uintptr_t. Receives SXS_GUARDED_GONE if the memory cannot be read.
 * @offset: bytes; a constant.
 * For loops in which a possible jump out of every load costs more than a later test of the value.
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

#ifdef __cppcheck__ /* cppcheck cannot parse the two macros above */
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

/** sxs_guarded_code - return the table of the library that this function is linked into. */
const struct sxs_guarded_code *sxs_guarded_code(void);

/** sxs_guarded_rely - set whether faults of guarded loads are certain to reach the router.
 *  @yes: nonzero if they are. Any thread; signal-safe. */
SXS_SIGSAFE void sxs_guarded_rely(int yes);

/** sxs_guarded_relied - return the last argument of sxs_guarded_rely(), or 0 before the first call.
 *  Does not check whether the calling thread blocks SIGSEGV or SIGBUS; the caller must know that.
 *  Any thread; signal-safe. */
SXS_SIGSAFE int sxs_guarded_relied(void);

/** sxs_guarded_reliable - tell whether a guarded load of the calling thread may fault.
 *  Returns 1 if such a fault is certain to reach the router, else 0. The result is 0 while the
 *  thread blocks SIGSEGV or SIGBUS, because then the kernel ends the process at a fault.
 *  Makes one system call if sxs_guarded_relied(), else none. Any thread; signal-safe; keeps
 *  errno. */
SXS_SIGSAFE int sxs_guarded_reliable(void);

/**
 * sxs_guarded_copy - copy up to @size bytes from @from to @to by guarded loads.
 * May be called only while sxs_guarded_reliable() is true.
 * Returns the number of bytes copied: fewer than @size if the memory that follows cannot be read.
 * Any thread; signal-safe; no system call.
 */
SXS_SIGSAFE size_t sxs_guarded_copy(void *to, uintptr_t from, size_t size);

#endif
