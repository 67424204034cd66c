/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/walkers.h"

#include "base/loader.h"

#include <stdatomic.h>
#include <time.h>
#include <ucontext.h>

#include "stackwalk/fast/unwind_library.h"

#include "stackwalk/fast/walk_clock.h"

/* The walker that uses libunwind alone, for comparison. libunwind takes the loader's lock to
 * search the loaded files. That is dangerous in a signal handler: the interrupted thread may
 * hold the lock (which is harmless, because it may take it again), and so may another thread
 * that was interrupted too. Two rules prevent that threads wait for each other: libunwind's own
 * lock is not used, by switching its cache off (which is slow), and no walk is done while the
 * library allocates memory with the loader's lock held, or forks. */
static struct {
    atomic_uint walking;
    atomic_uint held_off;
} unwinding;

void sxs_walkers_prepare(enum sxs_sample_walker walker)
{
    unw_context_t here;
    unw_cursor_t  cursor;
    if (walker != SXS_WALKER_UNWIND || !sxs_unwind.usable)
        return;
    sxs_loader_hold();
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    if (unw_getcontext(&here) == 0 && unw_init_local(&cursor, &here) == 0)
        unw_step(&cursor); /* libunwind's one-time initialization happens here */
    sxs_loader_release();
}

void sxs_walkers_hold_off(void)
{
    atomic_fetch_add(&unwinding.held_off, 1);
    for (int i = 0; i < 1000 && atomic_load(&unwinding.walking); i++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

void sxs_walkers_go_on(void)
{
    atomic_fetch_sub(&unwinding.held_off, 1);
}

static size_t walk_unwind(ucontext_t *uc, const struct sxs_walk_limits *limits, uintptr_t *ips,
                          enum sxs_sample_end *end)
{
    unw_cursor_t          cursor;
    unw_word_t            ip = 0, sp = 0, last_sp = 0;
    size_t                n = 0;
    int                   more = unw_init_local2(&cursor, uc, UNW_INIT_SIGNAL_FRAME) == 0;
    struct sxs_walk_clock clock;
    *end = SXS_SAMPLE_END_FAILED;
    sxs_walk_clock_start(&clock, limits->cycles);
    while (more && n < limits->max) {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        if (n && (sp <= last_sp || sp > limits->stack_hi)) {
            *end = SXS_SAMPLE_END_OFF_STACK;
            return n;
        }
        ips[n++] = (uintptr_t)ip;
        last_sp = sp;
        int rc = unw_step(&cursor);
        more = rc > 0;
        if (rc == 0)
            *end = SXS_SAMPLE_END_BOTTOM;
        if (more && sxs_walk_clock_is_over(&clock)) {
            *end = SXS_SAMPLE_END_TIMEOUT;
            return n;
        }
    }
    if (more)
        *end = SXS_SAMPLE_END_CUT;
    return n ? n : 1;
}

SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end)
{
    if (walker == SXS_WALKER_UNWIND) {
        size_t n = 1;
        ips[0] = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
        *end = SXS_SAMPLE_END_FAILED;
        atomic_fetch_add(&unwinding.walking, 1);
        if (sxs_unwind.usable && !atomic_load(&unwinding.held_off))
            n = walk_unwind(uc, limits, ips, end);
        atomic_fetch_sub(&unwinding.walking, 1);
        return n;
    }
    return sxs_walk_fast(uc, limits, ips, end);
}
