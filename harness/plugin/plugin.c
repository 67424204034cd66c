/* SPDX-License-Identifier: MIT */
/* plugin.c - libsxsplugin.so, which harness/bridge/churn.c loads, calls and unloads repeatedly. It
 * is built without frame pointers, so its stacks can be walked by its unwind table only. */
#include <time.h>

#define API __attribute__((visibility("default")))

API void sxsplugin_burn(long ns);

static long cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

__attribute__((noinline)) static unsigned long work(unsigned long seed, int depth)
{
    volatile unsigned long values[8] = {seed};
    for (int i = 0; i < 2000; i++)
        values[i % 8] = values[(i + 1) % 8] * 6364136223846793005UL + 1;
    return depth ? work(values[3], depth - 1) + values[0] : values[1];
}

API void sxsplugin_burn(long ns)
{
    volatile unsigned long sink = 0;
    long                   until = cpu_now() + ns;
    do
        sink += work(sink, 6);
    while (cpu_now() < until);
}
