/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "harness/bridge/bridge.h"

static long cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

void sxsbridge_burn(long ns)
{
    volatile unsigned long sink = 1;
    long until = cpu_now() + ns;
    do {
        for (int i = 0; i < 50000; i++)
            sink = sink * 6364136223846793005UL + 1;
    } while (cpu_now() < until);
}
