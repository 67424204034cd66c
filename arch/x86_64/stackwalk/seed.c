/* SPDX-License-Identifier: MIT */
/* Converts the registers of an x86-64 frame between a runtime's CONTEXT, libunwind's ucontext
 * and struct sxs_seed. */
#include <string.h>

#include "stackwalk/seed.h"

#define CONTEXT_AMD64_CONTROL_INTEGER 0x00100003u

int sxs_seed_from_context(struct sxs_seed *seed, const uint8_t *context, size_t size)
{
    struct {
        DWORD64 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, rip;
    } r;
    _Static_assert(offsetof(CONTEXT, Rip) + sizeof(DWORD64) - offsetof(CONTEXT, Rax) == sizeof(r),
                   "the integer registers lie side by side");

    if (!context || size < offsetof(CONTEXT, Rax) + sizeof(r))
        return -1;
    memcpy(&r, context + offsetof(CONTEXT, Rax), sizeof(r));
    *seed = (struct sxs_seed){
        .rip = r.rip, .rsp = r.rsp, .rbp = r.rbp, .rbx = r.rbx,
        .r12 = r.r12, .r13 = r.r13, .r14 = r.r14, .r15 = r.r15,
    };
    return 0;
}

void sxs_seed_to_context(const struct sxs_seed *seed, uint8_t *context)
{
    CONTEXT *c = (CONTEXT *)(void *)context;
    _Static_assert(sizeof(CONTEXT) <= SXS_CONTEXT_BYTES, "a CONTEXT must fit");

    memset(context, 0, SXS_CONTEXT_BYTES);
    c->ContextFlags = CONTEXT_AMD64_CONTROL_INTEGER;
    c->Rip = seed->rip;
    c->Rsp = seed->rsp;
    c->Rbp = seed->rbp;
    c->Rbx = seed->rbx;
    c->R12 = seed->r12;
    c->R13 = seed->r13;
    c->R14 = seed->r14;
    c->R15 = seed->r15;
}

void sxs_seed_to_unwind(const struct sxs_seed *seed, unw_context_t *uc)
{
    memset(uc, 0, sizeof(*uc));
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)seed->rip;
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)seed->rsp;
    uc->uc_mcontext.gregs[REG_RBP] = (greg_t)seed->rbp;
    uc->uc_mcontext.gregs[REG_RBX] = (greg_t)seed->rbx;
    uc->uc_mcontext.gregs[REG_R12] = (greg_t)seed->r12;
    uc->uc_mcontext.gregs[REG_R13] = (greg_t)seed->r13;
    uc->uc_mcontext.gregs[REG_R14] = (greg_t)seed->r14;
    uc->uc_mcontext.gregs[REG_R15] = (greg_t)seed->r15;
}

int sxs_seed_rbp_on_stack(const struct sxs_seed *seed, uintptr_t stack_end)
{
    return seed->rbp >= seed->rsp && seed->rbp % sizeof(uintptr_t) == 0 &&
           stack_end >= 2 * sizeof(uintptr_t) && seed->rbp <= stack_end - 2 * sizeof(uintptr_t);
}

/* Most, but not all, generated code keeps RBP as the frame pointer. Where RBP is not the frame
 * pointer, it belongs to an older frame, and this function skips the frames in between. The same
 * happens in an exception funclet, where RBP is the frame pointer of the enclosing method.
 * Therefore the caller must compare the result with the frames that the runtime reports. RBP may
 * point to any word of the stack, also to one that AddressSanitizer has poisoned; so the
 * sanitizer is off here. */
__attribute__((no_sanitize("address"))) int
sxs_seed_caller_by_rbp(const struct sxs_seed *seed, uintptr_t stack_end, struct sxs_seed *out)
{
    if (!sxs_seed_rbp_on_stack(seed, stack_end))
        return -1;
    const uintptr_t *saved = (const uintptr_t *)seed->rbp;
    *out = *seed;
    out->rbp = saved[0];
    out->rip = saved[1];
    out->rsp = seed->rbp + 2 * sizeof(uintptr_t);
    return 0;
}
