/* SPDX-License-Identifier: MIT */
/*
 * masks.c - the signals of profilers, which are blocked while a thread runs on its alternate stack.
 *
 * Profilers interrupt threads by signals. On an alternate stack, which runtimes make small, one handler more is
 * one too many, so these signals are blocked during SIGSEGV handling: by the mask of the router's action, and by the
 * router itself where a handler of the host's calls it. A runtime that leaves its
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

/* Blocks @bits on this thread. Returns those that were not blocked before. */
SXS_SIGSAFE static uint64_t block(uint64_t bits)
{
    sigset_t set, was;
    memset(&set, 0, sizeof(set));
    add_bits(&set, bits);
    return real.mask_signals(SIG_BLOCK, &set, &was) == 0 ? bits & ~bits_of(&was) : 0;
}

SXS_SIGSAFE static void unblock(uint64_t bits)
{
    sigset_t set;
    if (!bits)
        return;
    memset(&set, 0, sizeof(set));
    add_bits(&set, bits);
    real.mask_signals(SIG_UNBLOCK, &set, NULL);
}

/* A note is out of date when a handler was left by a jump that put another mask in force: what the
 * interrupted code had not blocked, the router cannot have left blocked there.
 * The mask of the router's action is in force only if the kernel has called the router. A host's handler that was
 * installed over it unseen passes faults on under its own mask. */
SXS_SIGSAFE void mask_entered(int idx, const void *context, struct mask_entry *out)
{
    uint64_t interrupted = bits_of(&((const ucontext_t *)context)->uc_sigmask);
    out->outer = sxs_thread_state.blocked;
    out->added = 0;
    if (!(router.flags[idx] & (int)SA_ONSTACK))
        return;
    out->added = block(of_profilers());
    sxs_thread_state.blocked = (out->outer & interrupted) | (of_profilers() & ~interrupted);
}

SXS_SIGSAFE void mask_returned(const struct mask_entry *entry)
{
    unblock(entry->added);
    sxs_thread_state.blocked = entry->outer;
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
    uint64_t ours = sxs_thread_state.blocked;
    sxs_thread_state.blocked = 0;
    unblock(ours);
}
