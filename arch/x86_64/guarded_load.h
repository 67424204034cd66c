/* SPDX-License-Identifier: MIT */
/**
 * guarded_load.h - the instructions of guarded loads, and the entries of their table. base/guarded.h
 * describes what a guarded load is, and when it may be used.
 */
#ifndef SXS_ARCH_X86_64_GUARDED_LOAD_H
#define SXS_ARCH_X86_64_GUARDED_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** One entry of the table: two addresses, each relative to the field that holds it. */
struct sxs_guarded_load {
    int32_t load;  /* the instruction that may fault */
    int32_t go_on; /* the instruction to continue with after a fault */
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

/**
 * sxs_guarded_copy_bytes - copy up to @size bytes from @from to @to by guarded loads.
 * Returns the number of bytes that were not copied, because the memory cannot be read. Conditions: those of
 * sxs_guarded_copy(). `rep movsb` decrements the number of bytes left in rcx, so it is exact after a fault.
 */
SXS_SIGSAFE static inline size_t sxs_guarded_copy_bytes(void *to, uintptr_t from, size_t size)
{
    __asm__ volatile("1: rep movsb\n\t"
                     "2:\n\t" SXS_GUARDED_ENTRY("2b")
                     : "+c"(size), "+D"(to), "+S"(from)
                     :
                     : "memory");
    return size;
}

#endif
