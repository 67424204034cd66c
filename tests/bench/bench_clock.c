/* SPDX-License-Identifier: MIT */
/*
 * bench_clock.c - measures the cost of a sampling clock alone: the CPU time that one signal adds to a
 * busy thread when its handler only arms the next signal. No sampler can cost less than that.
 *
 * usage: bench_clock HZ
 * Prints "bench: clock_us VALUE" and "bench: clock_hz VALUE", the rate that was reached.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/clocks.h"
#include "sampling/sample_signal.h"
#include "tests/bench/bench.h"

#define ROUNDS 151

static struct sxs_thread_slot self = {.timer = -1, .perf_fd = -1};
static volatile unsigned         n_signals;
static volatile uint64_t         sink = 1;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    uint64_t weight;
    if (sxs_clocks_own(&self, info, &weight) && weight)
        n_signals++;
}

static double cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static double work(void) /* works for about 15 ms; returns the CPU time used */
{
    double   start = cpu_ns();
    uint64_t x = sink;
    for (int i = 0; i < 12000000; i++)
        x = x * 6364136223846793005u + 1;
    sink = x;
    return cpu_ns() - start;
}

int main(int argc, char **argv)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    double           costs[ROUNDS], cost, taken = 0;
    int              hz = argc == 2 ? atoi(argv[1]) : 0;
    if (hz <= 0) {
        fprintf(stderr, "usage: bench_clock HZ\n");
        return 2;
    }
    atomic_store(&self.tid, (uint32_t)syscall(SYS_gettid));
    sxs_clocks_choose((unsigned)hz);
    sigaction(sxs_sample_signal_number(), &sa, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        double without = work(), with;
        if (sxs_clocks_start(&self)) {
            fprintf(stderr, "bench_clock: the clock does not start\n");
            return 1;
        }
        with = work();
        sxs_clocks_stop(&self);
        taken += with;
        costs[i] = with - without;
    }
    qsort(costs, ROUNDS, sizeof(costs[0]), bench_compare);
    cost = n_signals ? costs[ROUNDS / 2] * ROUNDS / n_signals / 1e3 : 0;
    printf("bench: clock_us %.2f\n", cost > 0 ? cost : 0); /* a negative cost is noise */
    printf("bench: clock_hz %.1f\n", n_signals / (taken / 1e9));
    return 0;
}
