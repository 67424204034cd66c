/* SPDX-License-Identifier: MIT */
/* sampling/walk.c - every read of the stack lies between the stack pointer where the walk
 * begins and the end of that stack, and recovers if the memory is not readable (base/guarded.h). */
#include "sampling/walk.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/guarded.h"
#include "base/session_state.h"
#include "sampling/perf_map.h"
#include "sampling/stacks.h"
#include "signals/signals.h"
#include "stackwalk/fast/walkers.h"

/* A stack that is larger than this, and not listed, is taken for another one than the thread's. */
#define LARGEST_STACK (UINT64_C(64) << 20)

static const struct sxs_signals *signals;     /* set before the first walk */
static sxs_find_code_fn          code_finder; /* NULL if the router, which knows code, is off */
static uint32_t                  first_tid;   /* of the process's first thread */
SXS_SESSION_KEEPS(signals);
SXS_SESSION_KEEPS(code_finder);
SXS_SESSION_KEEPS(first_tid);

SXS_SIGSAFE static int find_code(uintptr_t ip, uintptr_t *start)
{
    (void)start;
    return signals->find_ip(ip) >= 0 || sxs_perf_map_has(ip);
}

void sxs_walk_prepare(void)
{
    signals = sxs_signals();
    code_finder = signals->off ? NULL : find_code;
    first_tid = (uint32_t)getpid();
}

SXS_SIGSAFE static int on_alternate_stack(const ucontext_t *uc, uintptr_t sp)
{
    uintptr_t lo = (uintptr_t)uc->uc_stack.ss_sp;
    return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp >= lo && sp < lo + uc->uc_stack.ss_size;
}

/* Whether a load may fault while this thread is interrupted here. A fault whose signal is
 * blocked ends the process. */
SXS_SIGSAFE static int can_recover(const ucontext_t *uc)
{
    return sxs_guarded_relied() && !sigismember(&uc->uc_sigmask, SIGSEGV) &&
           !sigismember(&uc->uc_sigmask, SIGBUS);
}

SXS_SIGSAFE size_t sxs_walk_interrupted(const struct sxs_thread_slot *t, uint32_t tid,
                                        enum sxs_sample_walker walker, const ucontext_t *uc,
                                        struct sxs_walk_limits limits, uintptr_t *ips,
                                        uintptr_t *sps, enum sxs_sample_end *end)
{
    uintptr_t sp = sxs_context_sp(uc);
    limits.find_code = code_finder;
    ips[0] = sxs_context_ip(uc);
    if (sps)
        sps[0] = sp;
    *end = SXS_SAMPLE_END_ON_ALTSTACK;
    if (on_alternate_stack(uc, sp))
        return 1;
    *end = SXS_SAMPLE_END_OFF_STACK;
    limits.stack_lo = sp;
    switch (sxs_stacks_find(t, tid == first_tid, sp, &limits.stack_hi)) {
    case SXS_STACK_UNKNOWN: return 1;
    case SXS_STACK_OWN: break;
    case SXS_STACK_LISTED: limits.checked = !can_recover(uc); break;
    }
    return sps ? sxs_walk_fast_sps(uc, &limits, ips, sps, end)
               : sxs_walkers_walk(walker, uc, &limits, ips, end);
}

/* A value of a register that leads nowhere. */
#define UNKNOWN 1

/* The thread may end, and its stack be unmapped: all reads are checked. */
size_t sxs_walk_waiting(const struct sxs_thread_slot *t, uint32_t tid, uintptr_t ip, uintptr_t sp,
                        struct sxs_walk_limits limits, uintptr_t *ips, enum sxs_sample_end *end)
{
    ucontext_t uc;
    memset(&uc, 0, sizeof(uc));
    for (unsigned i = 0; i < SXS_N_REGS; i++)
        sxs_context_set_register(&uc, i, UNKNOWN);
    sxs_context_set_register(&uc, SXS_REG_IP, ip);
    sxs_context_set_register(&uc, SXS_REG_SP, sp);
    ips[0] = ip;
    *end = SXS_SAMPLE_END_OFF_STACK;
    limits.find_code = code_finder;
    limits.stack_lo = sp;
    limits.checked = 1;
    if (sxs_stacks_find(t, tid == first_tid, sp, &limits.stack_hi) == SXS_STACK_UNKNOWN)
        return 1;
    return sxs_walk_fast(&uc, &limits, ips, end);
}

/* The end of a stack that nobody has listed yet, as of a thread that was started a moment ago; 0: not
 * known. The C library keeps its data of a thread at the old end of the stack that it made for it. */
SXS_SIGSAFE static uintptr_t end_by_thread(uintptr_t sp)
{
    uintptr_t own = (uintptr_t)__builtin_thread_pointer();
    return own > sp && own - sp < LARGEST_STACK ? own & ~(uintptr_t)15 : 0;
}

SXS_SIGSAFE size_t sxs_walk_own(const struct sxs_thread_slot *t, uint32_t tid, const ucontext_t *uc,
                                struct sxs_walk_limits limits, uintptr_t *ips,
                                enum sxs_sample_end *end)
{
    limits.find_code = code_finder;
    limits.stack_lo = sxs_context_sp(uc);
    ips[0] = sxs_context_ip(uc);
    *end = SXS_SAMPLE_END_OFF_STACK;
    switch (sxs_stacks_find(t, tid == first_tid, limits.stack_lo, &limits.stack_hi)) {
    case SXS_STACK_UNKNOWN:
        limits.stack_hi = end_by_thread(limits.stack_lo);
        if (!limits.stack_hi)
            return 1;
        limits.checked = !sxs_guarded_reliable(); /* a coroutine's stack may have gaps after it */
        break;
    case SXS_STACK_OWN: break;
    case SXS_STACK_LISTED: limits.checked = !sxs_guarded_reliable(); break;
    }
    return sxs_walk_fast(uc, &limits, ips, end);
}
