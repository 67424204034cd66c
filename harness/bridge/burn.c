/* SPDX-License-Identifier: MIT */
/* burn.c - uses CPU time in native code, on the calling thread or on short threads. */
#include <pthread.h>
#include <stdatomic.h>
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

static struct {
    long        burn_ns;
    atomic_long used_ns, running;
} churn;

/* Body of a short thread. Counts the CPU time it used, except that of its start and end. */
static void *sxsbridge_short_life(void *arg)
{
    volatile unsigned long sink = 1;
    long                   began = cpu_now();
    do {
        for (int i = 0; i < 5000; i++)
            sink = sink * 6364136223846793005UL + 1;
    } while (cpu_now() - began < churn.burn_ns);
    atomic_fetch_add(&churn.used_ns, cpu_now() - began);
    atomic_fetch_sub(&churn.running, 1);
    return arg;
}

long sxsbridge_churn(int threads, long every_ns, long burn_ns)
{
    unsigned long   random = 1; /* varies the intervals, so that they differ from timer ticks */
    struct timespec due;
    pthread_attr_t  attr;
    pthread_t       thread;
    churn.burn_ns = burn_ns;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 << 10);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int i = 0; i < threads; i++) {
        random = random * 6364136223846793005UL + 1442695040888963407UL;
        due.tv_nsec += every_ns / 2 + (long)((random >> 33) % (unsigned long)every_ns);
        due.tv_sec += due.tv_nsec / 1000000000L;
        due.tv_nsec %= 1000000000L;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        atomic_fetch_add(&churn.running, 1);
        if (pthread_create(&thread, &attr, sxsbridge_short_life, NULL) != 0)
            atomic_fetch_sub(&churn.running, 1);
    }
    pthread_attr_destroy(&attr);
    while (atomic_load(&churn.running) > 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return atomic_load(&churn.used_ns);
}
