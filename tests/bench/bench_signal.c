/* SPDX-License-Identifier: MIT */
/*
 * bench_signal.c - measures faults and suspension signals that a simulated runtime handles. The
 * environment decides whether the signal router is preloaded.
 *
 * usage: bench_signal RUNTIME
 */
#include <pthread.h>
#include <signal.h>

#include "tests/bench/bench.h"

static void faults(void *arg, unsigned n)
{
    const struct fakeclr_control *clr = arg;
    clr->faults(n);
}

/* A signal that a thread sends to itself is delivered before pthread_kill() returns. */
static void activations(void *arg, unsigned n)
{
    (void)arg;
    for (unsigned i = 0; i < n; i++)
        pthread_kill(pthread_self(), SIGRTMIN);
}

int main(int argc, char **argv)
{
    const struct fakeclr_control *clr;
    struct fakeclr_counts         counts;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_signal RUNTIME\n");
        return 2;
    }
    clr = bench_start(argv[1]);
    struct fakeclr_control table = *clr;
    bench_report("fault", faults, &table, 1000);
    bench_report("activation", activations, NULL, 1000);
    clr->counts(&counts);
    if (counts.faults != 1000ull * (BENCH_BATCHES + 1) ||
        counts.activations != 1000ull * (BENCH_BATCHES + 1)) {
        fprintf(stderr, "bench_signal: signals were lost\n");
        return 1;
    }
    return 0;
}
