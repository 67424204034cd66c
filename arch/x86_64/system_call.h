/* SPDX-License-Identifier: MIT */
/** system_call.h - the instruction of a system call, its arguments, and how an interrupted call is begun
 *  again. Any thread; signal-safe. */
#ifndef SXS_ARCH_X86_64_SYSTEM_CALL_H
#define SXS_ARCH_X86_64_SYSTEM_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "base/base.h"

#define SXS_SYSTEM_CALL_BYTES 2 /* size of the instruction */

/** sxs_is_system_call - true if the instruction at @code makes a system call.
 *  @code: SXS_SYSTEM_CALL_BYTES readable bytes. */
SXS_SIGSAFE static inline int sxs_is_system_call(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/** sxs_system_call_arguments - store the six arguments of the system call that @uc has interrupted.
 *  @args: room for six values. They are unchanged after the call has failed with EINTR. */
SXS_SIGSAFE static inline void sxs_system_call_arguments(const ucontext_t *uc, uint64_t *args)
{
    const greg_t *r = uc->uc_mcontext.gregs;
    args[0] = (uint64_t)r[REG_RDI];
    args[1] = (uint64_t)r[REG_RSI];
    args[2] = (uint64_t)r[REG_RDX];
    args[3] = (uint64_t)r[REG_R10];
    args[4] = (uint64_t)r[REG_R8];
    args[5] = (uint64_t)r[REG_R9];
}

/** sxs_system_call_again - make the interrupted code execute its system call again.
 *  @uc: its IP is directly after the instruction of the call, whose arguments are unchanged.
 *  @number: the number of the system call. */
SXS_SIGSAFE static inline void sxs_system_call_again(ucontext_t *uc, long number)
{
    uc->uc_mcontext.gregs[REG_RAX] = number;
    uc->uc_mcontext.gregs[REG_RIP] -= SXS_SYSTEM_CALL_BYTES;
}

/* Returns the start of an instruction that ends at @end and loads a register other than RAX from the
 * stack, with a displacement of one byte; NULL if there is no such instruction. */
SXS_SIGSAFE static inline const uint8_t *sxs_before_load(const uint8_t *end)
{
    const int has_prefix = (end[-5] & 0xf0) == 0x40; /* REX */
    const int is_rax = (end[-3] & 0x38) == 0 && !(has_prefix && (end[-5] & 4));
    if (end[-4] != 0x8b || (end[-3] & 0xc7) != 0x44 || end[-2] != 0x24 || is_rax)
        return NULL;
    return has_prefix ? end - 5 : end - 4;
}

#define SXS_SYSTEM_CALL_CODE  24 /* bytes of code that sxs_system_call_number() reads at most */
#define SXS_SYSTEM_CALL_LOADS 2  /* loads of arguments between that of the number and the call */

/** sxs_system_call_number - return the number of the system call whose instruction ends a piece of code, or
 *  -1 if the code does not load the number as a constant directly before the instruction.
 *  @code: SXS_SYSTEM_CALL_CODE bytes; the last of them is the last byte of the instruction. */
SXS_SIGSAFE static inline long sxs_system_call_number(const uint8_t *code)
{
    const uint8_t *at = code + SXS_SYSTEM_CALL_CODE - SXS_SYSTEM_CALL_BYTES;
    int32_t        number;
    if (!sxs_is_system_call(at))
        return -1;
    for (int i = 0; i <= SXS_SYSTEM_CALL_LOADS && at; i++, at = sxs_before_load(at))
        if (at[-5] == 0xb8) {
            memcpy(&number, at - 4, sizeof(number));
            return number;
        }
    return -1;
}

#endif
