/* SPDX-License-Identifier: MIT */
#include "cmd/processes/deadline.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>

#define NS_PER_MS   1000000
#define PRESSURE_MS 1000

static _Atomic int64_t deadline_ms = INT64_MAX;

int64_t sxs_deadline_now_ms(void)
{
    return (int64_t)(sxs_now_ns(CLOCK_MONOTONIC) / NS_PER_MS);
}

/* Returns for how many percent of the last ten seconds threads have waited for processors; 0 when the
 * kernel does not say. Asked for again after a second. */
static unsigned cpu_pressure(void)
{
    static _Atomic int64_t  asked_ms = INT64_MIN;
    static _Atomic unsigned known;
    int64_t                 now = sxs_deadline_now_ms(), was = atomic_load(&asked_ms);
    if (was != INT64_MIN && now - was < PRESSURE_MS)
        return atomic_load(&known);
    FILE    *from = fopen("/proc/pressure/cpu", "re");
    unsigned percent = 0;
    if (from) {
        if (fscanf(from, "some avg10=%u", &percent) != 1 || percent > 100)
            percent = 0;
        fclose(from);
    }
    atomic_store(&known, percent);
    atomic_store(&asked_ms, now);
    return percent;
}

uint64_t sxs_deadline_stretch(uint64_t time)
{
    return time + time * 3 * cpu_pressure() / 100;
}

void sxs_deadline_begin(unsigned ms)
{
    int64_t length = (int64_t)sxs_deadline_stretch(ms);
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
