/* SPDX-License-Identifier: MIT */
/*
 * masks.c - the signals of profilers, which are blocked while a thread runs on its alternate stack.
 *
 * Profilers interrupt threads by signals. On an alternate stack, which runtimes make small, one handler more is
 * one too many, so the router's action blocks these signals during SIGSEGV handling. A runtime that leaves its
 * handler for good never restores the interrupted mask: it unblocks the one signal it knows it had blocked. So each
 * thread notes which signals the router has blocked on it. These are unblocked with the runtime's own, and no
 * others: a signal that the host itself has blocked stays blocked.
 */
#include "signals/router.h"

#include <string.h>

/* The kernel knows 64 signals; bit N - 1 is signal N. */
SXS_SIGSAFE static uint64_t bits_of(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof(bits));
    return bits;
}

SXS_SIGSAFE static void add_bits(sigset_t *set, uint64_t bits)
{
    bits |= bits_of(set);
    memcpy(set, &bits, sizeof(bits));
}

SXS_SIGSAFE static uint64_t of_samples(void)
{
    sigset_t set;
    memset(&set, 0, sizeof(set));
    sample_add_signals(&set);
    return bits_of(&set);
}

SXS_SIGSAFE static uint64_t of_profilers(void)
{
    return of_samples() | UINT64_C(1) << (SIGPROF - 1);
}

SXS_SIGSAFE void mask_add_profilers(sigset_t *set)
{
    add_bits(set, of_profilers());
}

/* A note is out of date when a handler was left by a jump that put another mask in force: what the
 * interrupted code had not blocked, the router cannot have left blocked there. */
SXS_SIGSAFE uint64_t mask_entered(int idx, const void *context)
{
    uint64_t outer = sxs_thread_state.blocked;
    uint64_t interrupted = bits_of(&((const ucontext_t *)context)->uc_sigmask);
    if (router.flags[idx] & (int)SA_ONSTACK)
        sxs_thread_state.blocked = (outer & interrupted) | (of_profilers() & ~interrupted);
    return outer;
}

SXS_SIGSAFE void mask_returned(uint64_t outer)
{
    sxs_thread_state.blocked = outer;
}

/* A sample that would begin at the top of the alternate stack has to wait: the runtime's own frames there
 * are still needed. The sampler unblocks it when a catch block begins (mask_unblock_samples). */
SXS_SIGSAFE int mask_runtimes_unblock(const sigset_t *set, sigset_t *old)
{
    uint64_t ours = sxs_thread_state.blocked & ~(sample_on_stack() ? of_samples() : 0);
    sigset_t more = *set;
    add_bits(&more, ours);
    sxs_thread_state.blocked &= ~ours;
    return real.mask_signals(SIG_UNBLOCK, &more, old);
}

SXS_SIGSAFE int mask_runtimes_block(const sigset_t *set, sigset_t *old)
{
    sigset_t more = *set, was;
    int      err;
    mask_add_profilers(&more);
    err = real.mask_signals(SIG_BLOCK, &more, &was);
    if (err)
        return err;
    sxs_thread_state.blocked |= of_profilers() & ~bits_of(set) & ~bits_of(&was);
    if (old)
        *old = was;
    return 0;
}

void mask_unblock_samples(void)
{
    sigset_t ours;
    if (!sxs_thread_state.blocked)
        return;
    memset(&ours, 0, sizeof(ours));
    add_bits(&ours, sxs_thread_state.blocked);
    sxs_thread_state.blocked = 0;
    real.mask_signals(SIG_UNBLOCK, &ours, NULL);
}
