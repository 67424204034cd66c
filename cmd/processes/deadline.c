/* SPDX-License-Identifier: MIT */
#include "cmd/processes/deadline.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>

#define NS_PER_MS 1000000

static _Atomic int64_t deadline_ms = INT64_MAX;

int64_t sxs_deadline_now_ms(void)
{
    return (int64_t)(sxs_now_ns(CLOCK_MONOTONIC) / NS_PER_MS);
}

/* Returns for how many percent of the last ten seconds threads have waited for processors; 0 when the
 * kernel does not say. */
static unsigned cpu_pressure(void)
{
    FILE    *from = fopen("/proc/pressure/cpu", "re");
    unsigned percent = 0;
    if (from) {
        if (fscanf(from, "some avg10=%u", &percent) != 1 || percent > 100)
            percent = 0;
        fclose(from);
    }
    return percent;
}

void sxs_deadline_begin(unsigned ms)
{
    int64_t length = (int64_t)ms + (int64_t)ms * 3 * cpu_pressure() / 100;
    atomic_store(&deadline_ms, ms ? sxs_deadline_now_ms() + length : INT64_MAX);
}

void sxs_deadline_hurry(unsigned ms)
{
    int64_t sooner = sxs_deadline_now_ms() + ms, was = atomic_load(&deadline_ms);
    while (sooner < was && !atomic_compare_exchange_weak(&deadline_ms, &was, sooner))
        ;
}

unsigned sxs_deadline_left(unsigned most)
{
    int64_t until = atomic_load(&deadline_ms), now = sxs_deadline_now_ms();
    if (until <= now)
        return 0;
    return until - now < (int64_t)most ? (unsigned)(until - now) : most;
}
