/* SPDX-License-Identifier: MIT */
#include "allocator/pace.h"

#include <stdatomic.h>

/* The number of the present period in the upper half, the number of reports in it in the lower. */
static _Atomic uint64_t counted;

SXS_SIGSAFE static uint32_t count_report(uint32_t period)
{
    uint64_t now = atomic_load_explicit(&counted, memory_order_relaxed), next;
    do
        next = now >> 32 == period ? now + 1 : (uint64_t)period << 32 | 1;
    while (!atomic_compare_exchange_weak_explicit(&counted, &now, next, memory_order_relaxed,
                                                  memory_order_relaxed));
    return (uint32_t)next;
}

SXS_SIGSAFE void sxs_pace_report(struct sxs_thread_pace *pace, uint64_t now_ns)
{
    uint32_t period = (uint32_t)(now_ns / SXS_PACE_NS);
    uint32_t n = count_report(period), passed = period - pace->period;
    uint32_t shift = pace->shift > passed ? pace->shift - passed : 0;
    if (n > SXS_PACE_MAX && shift < 1 + (n - SXS_PACE_MAX) / SXS_PACE_STEP)
        shift = 1 + (n - SXS_PACE_MAX) / SXS_PACE_STEP;
    pace->shift = shift < SXS_PACE_SHIFT ? shift : SXS_PACE_SHIFT;
    pace->period = period;
}
