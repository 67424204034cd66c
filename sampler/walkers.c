/* SPDX-License-Identifier: MIT */
#include "sampler/walkers.h"

#include <x86intrin.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

/* libunwind alone, as a second opinion: it takes the loader's lock to search modules. */
static size_t walk_unwind(ucontext_t *uc, const struct sxs_walk_limits *limits, uintptr_t *ips,
                          enum sxs_sample_end *end)
{
    unw_cursor_t cursor;
    unw_word_t   ip = 0, sp = 0, last_sp = 0;
    size_t       n = 0;
    int          more = unw_init_local2(&cursor, uc, UNW_INIT_SIGNAL_FRAME) == 0;
    *end = SXS_SAMPLE_END_FAILED;
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
        if (more && limits->deadline_tsc && __rdtsc() > limits->deadline_tsc) {
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
    if (walker == SXS_WALKER_UNWIND)
        return walk_unwind(uc, limits, ips, end);
    return sxs_walk_fast(uc, limits, ips, end);
}
