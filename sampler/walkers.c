/* SPDX-License-Identifier: MIT */
#include "sampler/walkers.h"

#include "manager/base/loader.h"

#include <stdatomic.h>
#include <time.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sampler/walk_clock.h"

/*
 * libunwind alone, as a second opinion. It takes the loader's lock to search modules, which is a danger:
 * the thread that was interrupted may hold it (it may take it again), and so may another, interrupted too.
 * What keeps them from waiting for each other: libunwind's own lock is not used (no cache: slow), and
 * while the library itself allocates with the loader's lock held, or forks, nobody walks.
 */
static struct {
    atomic_uint walking;
    atomic_uint held_off;
} unwinding;

void sxs_walkers_prepare(enum sxs_sample_walker walker)
{
    unw_context_t here;
    unw_cursor_t  cursor;
    if (walker != SXS_WALKER_UNWIND)
        return;
    sxs_loader_hold();
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    if (unw_getcontext(&here) == 0 && unw_init_local(&cursor, &here) == 0)
        unw_step(&cursor); /* what it does once, it does here */
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
        if (!atomic_load(&unwinding.held_off))
            n = walk_unwind(uc, limits, ips, end);
        atomic_fetch_sub(&unwinding.walking, 1);
        return n;
    }
    return sxs_walk_fast(uc, limits, ips, end);
}
