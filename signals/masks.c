/* SPDX-License-Identifier: MIT */
/*
 * masks.c - block the signals of profilers while a thread runs on its alternate stack.
 *
 * Profilers interrupt threads by signals. Runtimes make alternate stacks small, and one more
 * handler would overflow them, so these signals are blocked during SIGSEGV handling: by the mask of
 * the router's action, and by the router itself if a handler of the host calls it. A runtime that
 * leaves its handler by a jump does not restore the interrupted mask; it unblocks only the one
 * signal that it has blocked itself. So each thread records the signals that the router has blocked
 * on it (sxs_thread_state.blocked). These are unblocked together with the runtime's signal. No
 * others are: a signal that the host itself has blocked stays blocked.
 */
#include "signals/router.h"

#include <string.h>

/* Returns @set in the kernel's form: 64 signals, bit N - 1 is signal N. */
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

/* Blocks the signals @bits on this thread. Returns those that were not blocked before. */
SXS_SIGSAFE static uint64_t block_signals(uint64_t bits)
{
    sigset_t set, was;
    memset(&set, 0, sizeof(set));
    add_bits(&set, bits);
    return real.mask_signals(SIG_BLOCK, &set, &was) == 0 ? bits & ~bits_of(&was) : 0;
}

SXS_SIGSAFE static void unblock_signals(uint64_t bits)
{
    sigset_t set;
    if (!bits)
        return;
    memset(&set, 0, sizeof(set));
    add_bits(&set, bits);
    real.mask_signals(SIG_UNBLOCK, &set, NULL);
}

/* The recorded signals can be stale: a handler may have been left by a jump that set another mask.
 * So a recorded signal is dropped if the interrupted code had not blocked it, because then the
 * router's block is no longer in force.
 * The mask of the router's action is in force only if the kernel called the router. A handler of
 * the host that was installed over the router passes faults on under its own mask, so the signals
 * are blocked here in any case. */
SXS_SIGSAFE void mask_entered(int idx, const void *context, struct mask_entry *out)
{
    uint64_t interrupted = bits_of(&((const ucontext_t *)context)->uc_sigmask);
    out->outer = sxs_thread_state.blocked;
    out->added = 0;
    if (!(router.flags[idx] & (int)SA_ONSTACK))
        return;
    out->added = block_signals(of_profilers());
    sxs_thread_state.blocked = (out->outer & interrupted) | (of_profilers() & ~interrupted);
}

SXS_SIGSAFE void mask_returned(const struct mask_entry *entry)
{
    unblock_signals(entry->added);
    sxs_thread_state.blocked = entry->outer;
}

/* If the sampler's handler runs on the alternate stack, the sample signal stays blocked, because
 * the handler would start at the top of that stack and overwrite frames that the runtime still
 * needs. The sampler unblocks the signal when a catch block begins (mask_unblock_samples()). */
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
    unblock_signals(ours);
}
