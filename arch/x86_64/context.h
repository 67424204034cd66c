/* SPDX-License-Identifier: MIT */
/**
 * context.h - the registers that a ucontext_t holds, and the frame that the kernel pushes for a signal.
 *
 * A ucontext_t comes from the kernel (the argument of a signal handler) or is filled in by
 * SXS_CONTEXT_HERE(). All functions only access the given object: any thread, signal-safe.
 */
#ifndef SXS_ARCH_X86_64_CONTEXT_H
#define SXS_ARCH_X86_64_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/base.h"

/** Indexes of registers in a ucontext_t, for the functions below. */
enum {
    SXS_REG_IP = REG_RIP,
    SXS_REG_SP = REG_RSP,
    SXS_REG_FP = REG_RBP, /* the frame pointer */
    SXS_REG_BX =
        REG_RBX, /* the register besides FP that the fast walker follows from frame to frame */
    SXS_N_REGS = NGREG, /* number of registers in a ucontext_t */
};

/** sxs_context_register - return the value of a register.
 *  @reg: one of the indexes above, or 0 to SXS_N_REGS - 1. */
SXS_SIGSAFE static inline uintptr_t sxs_context_register(const ucontext_t *uc, unsigned reg)
{
    return (uintptr_t)uc->uc_mcontext.gregs[reg];
}

/** sxs_context_set_register - change a register. Interrupted code goes on with that value.
 *  @reg: as for sxs_context_register(). */
SXS_SIGSAFE static inline void sxs_context_set_register(ucontext_t *uc, unsigned reg,
                                                        uintptr_t value)
{
    uc->uc_mcontext.gregs[reg] = (greg_t)value;
}

/** sxs_context_address - return the address of the word that holds a register. Does not read @uc, which
 *  may lie in memory that is not readable. @reg: as for sxs_context_register(). */
SXS_SIGSAFE static inline uintptr_t sxs_context_address(const ucontext_t *uc, unsigned reg)
{
    return (uintptr_t)&uc->uc_mcontext.gregs[reg];
}

/** sxs_context_ip - return the address of the instruction that was interrupted. */
SXS_SIGSAFE static inline uintptr_t sxs_context_ip(const ucontext_t *uc)
{
    return sxs_context_register(uc, SXS_REG_IP);
}

/** sxs_context_sp - return the stack pointer. */
SXS_SIGSAFE static inline uintptr_t sxs_context_sp(const ucontext_t *uc)
{
    return sxs_context_register(uc, SXS_REG_SP);
}

/** sxs_context_result - return the register with the result of a function or system call; a system
 *  call that has failed leaves -errno there. */
SXS_SIGSAFE static inline long sxs_context_result(const ucontext_t *uc)
{
    return (long)uc->uc_mcontext.gregs[REG_RAX];
}

/** sxs_context_set_result - change the register with the result of a function or system call. */
SXS_SIGSAFE static inline void sxs_context_set_result(ucontext_t *uc, long result)
{
    uc->uc_mcontext.gregs[REG_RAX] = result;
}

/** sxs_dwarf_register - return the index of a register for the functions above.
 *  @number: the number of the register in unwind tables (DWARF), at most 15. */
SXS_SIGSAFE static inline unsigned sxs_dwarf_register(unsigned number)
{
    static const uint8_t registers[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                          REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                          REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[number];
}

/** SXS_CONTEXT_HERE - store IP, SP and the registers that callees preserve, at this point of the calling
 *  function, into the ucontext_t variable @uc. Its other members are not written. */
#define SXS_CONTEXT_HERE(uc)                       \
    __asm__ volatile("leaq 0(%%rip), %%rax\n\t"    \
                     "movq %%rax, 128(%0)\n\t"     \
                     "movq %%rsp, 120(%0)\n\t"     \
                     "movq %%rbp, 80(%0)\n\t"      \
                     "movq %%rbx, 88(%0)\n\t"      \
                     "movq %%r12, 32(%0)\n\t"      \
                     "movq %%r13, 40(%0)\n\t"      \
                     "movq %%r14, 48(%0)\n\t"      \
                     "movq %%r15, 56(%0)"          \
                     :                             \
                     : "r"((uc).uc_mcontext.gregs) \
                     : "rax", "memory")
_Static_assert(REG_RIP * 8 == 128 && REG_RSP * 8 == 120 && REG_RBP * 8 == 80 && REG_RBX * 8 == 88 &&
                   REG_R12 * 8 == 32 && REG_R15 * 8 == 56,
               "offsets in SXS_CONTEXT_HERE");

/** What the stack pointer points to after a signal handler has returned into the restorer: the kernel's
 *  ucontext, and then the siginfo. */
struct sxs_signal_frame {
    unsigned char before[offsetof(ucontext_t, uc_mcontext)];
    greg_t        gregs[NGREG];
    unsigned char fpregs_and_reserved[8 + 8 * 8];
    uint64_t      mask;
    int           signo; /* the first member of the siginfo */
};

/** sxs_signal_frame_ip, sxs_signal_frame_sp - return IP and SP of the code that the signal interrupted. */
SXS_SIGSAFE static inline uintptr_t sxs_signal_frame_ip(const struct sxs_signal_frame *frame)
{
    return (uintptr_t)frame->gregs[REG_RIP];
}

SXS_SIGSAFE static inline uintptr_t sxs_signal_frame_sp(const struct sxs_signal_frame *frame)
{
    return (uintptr_t)frame->gregs[REG_RSP];
}

#endif
