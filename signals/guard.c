/* SPDX-License-Identifier: MIT */
/*
 * guard.c - recover from faults of guarded loads (base/guarded.h).
 *
 * router_entry() calls guard_recovers() before it routes a signal. For a fault of other code the
 * check takes two comparisons.
 */
#include "signals/router.h"

#include <errno.h>
#include <ucontext.h>

#include "arch/arch.h"
#include "base/guarded.h"

/* Written once, by the first call of guard_code(). `code` is written last. */
static struct {
    _Atomic(const struct sxs_guarded_code *) code;
    uintptr_t                                lo, hi; /* contains all guarded loads; half-open */
} guarded;

/* Returns the address that @field of a table entry stands for. */
SXS_SIGSAFE static uintptr_t target_of(const int32_t *field)
{
    return (uintptr_t)field + (uintptr_t)(intptr_t)*field;
}

/* Tells whether the router is the kernel's action for @sig. */
static int in_front(int sig)
{
    struct sigaction now;
    return real.sigaction(sig, NULL, &now) == 0 && now.sa_sigaction == router_entry;
}

int guard_code(const struct sxs_guarded_code *code)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    if (router.off)
        return -ENOTSUP;
    if (!atomic_flag_test_and_set(&taken)) {
        guarded.lo = UINTPTR_MAX;
        for (const struct sxs_guarded_load *at = code->begin; at < code->end; at++) {
            uintptr_t load = target_of(&at->load);
            guarded.lo = load < guarded.lo ? load : guarded.lo;
            guarded.hi = load + 1 > guarded.hi ? load + 1 : guarded.hi;
        }
        atomic_store_explicit(&guarded.code, code, memory_order_release);
    }
    /* in_front() asks the kernel, because a host may have registered by a bare system call. */
    return router.preloaded && atomic_load(&guarded.code) == code && in_front(SIGSEGV) &&
           in_front(SIGBUS);
}

SXS_SIGSAFE int guard_recovers(int sig, const siginfo_t *info, void *context)
{
    const struct sxs_guarded_code *code = atomic_load_explicit(&guarded.code, memory_order_acquire);
    ucontext_t                    *uc = context;
    uintptr_t                      ip = sxs_context_ip(uc);
    if (!code || ip < guarded.lo || ip >= guarded.hi || (sig != SIGSEGV && sig != SIGBUS) ||
        info->si_code <= 0)
        return 0;
    for (const struct sxs_guarded_load *at = code->begin; at < code->end; at++)
        if (target_of(&at->load) == ip) {
            sxs_context_set_register(uc, SXS_REG_IP, target_of(&at->go_on));
            return 1;
        }
    return 0;
}
