/* SPDX-License-Identifier: MIT */
#include "sampling/runs.h"

#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

#define SHORT_NS  1000000u
#define LONG_NS   4000000u
#define N_SAMPLES 16u /* samples between two measurements */

/* Only waits (voluntary context switches) are counted. Preemptions depend on the load of the
 * machine, not on the thread. */
SXS_SIGSAFE enum sxs_runs sxs_runs_look(struct sxs_thread_slot *t)
{
    struct rusage use;
    uint64_t      now, mean;
    int           is_first = !t->run_began_ns;
    if ((!is_first && ++t->n_samples < N_SAMPLES) || getrusage(RUSAGE_THREAD, &use) != 0)
        return SXS_RUNS_UNKNOWN;
    now = sxs_now_ns(CLOCK_THREAD_CPUTIME_ID);
    mean = (now - t->run_began_ns) / ((uint64_t)use.ru_nvcsw - t->n_waits + 1);
    t->run_began_ns = now;
    t->n_waits = (uint64_t)use.ru_nvcsw;
    t->n_samples = 0;
    if (is_first)
        return SXS_RUNS_UNKNOWN;
    return mean < SHORT_NS ? SXS_RUNS_SHORT : mean > LONG_NS ? SXS_RUNS_LONG : SXS_RUNS_UNKNOWN;
}
