/* SPDX-License-Identifier: MIT */
/* ring_rates.c - measures the CPU time and the disk space of a segment, and chooses the rates of the next one. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/ring_internal.h"
#include "sampling/recorder.h"

#define MIN_AGE_NS INT64_C(10000000000) /* before the cost of a segment is judged */
#define LEAST_NS   INT64_C(1000000000)  /* of a segment, even if it is too large */
#define MOST_STRETCH 64u
#define RING_PARTS 5u /* a segment takes at most this part of the bytes of a ring */

static int64_t age_ns(void)
{
    return (int64_t)sxs_now_ns(CLOCK_MONOTONIC) - sxs_ring.now.started_ns;
}

uint64_t sxs_ring_handler_ns(void)
{
    struct sxs_samples_writer *writer = sxs_recorder_writer();
    return writer ? atomic_load(&sxs_samples_header(writer)->handler_ns) : 0;
}

static struct sxs_ring_cost cost_so_far(void)
{
    return sxs_cost_between(sxs_ring.now.cost, sxs_cost_now(sxs_ring_handler_ns()));
}

/* Writes "1.25" of thousandths. */
static void put_percent(char out[24], uint64_t thousandths)
{
    snprintf(out, 24, "%" PRIu64 ".%02" PRIu64, thousandths / 1000, thousandths % 1000 / 10);
}

/* Says what the profiler has cost and what is changed, in the log and in the description of the next
 * segment, which the report begins with. */
__attribute__((format(printf, 2, 3))) static void say(struct sxs_ring_cost cost, const char *fmt,
                                                      ...)
{
    char    used[24], processor[24], limit[24], least[24], what[120];
    va_list args;
    put_percent(used, sxs_cost_part(cost));
    put_percent(processor, sxs_cost_of_processor(cost));
    put_percent(limit, sxs_ring.settings.budget);
    put_percent(least, sxs_cost_least(sxs_ring.settings.budget));
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    snprintf(
        sxs_ring.adapted, sizeof(sxs_ring.adapted),
        "the profiler used %s %% of the program's CPU time (%s %% of one processor), and %s %% "
        "(at least %s %%) is the budget: %s",
        used, processor, limit, least, what);
    sxs_warn("%s: %s", sxs_ring.path, sxs_ring.adapted);
}

/* How many times as long segments may be: two of them stay in a ring. */
static unsigned most_stretch(void)
{
    const struct sxs_keep_settings *s = &sxs_ring.settings;
    uint64_t                        most = s->keep_ns ? s->keep_ns / 2 / s->every_ns : MOST_STRETCH;
    return most < 1 ? 1 : most > MOST_STRETCH ? MOST_STRETCH : (unsigned)most;
}

uint64_t sxs_ring_every_ns(void)
{
    return sxs_ring.settings.every_ns * sxs_ring.budget.stretch;
}

void sxs_ring_adapt(void)
{
    struct sxs_ring_cost           cost = cost_so_far();
    const struct sxs_budget       *b = &sxs_ring.budget;
    const struct sxs_budget_limits limits = {.budget = sxs_ring.settings.budget,
                                             .can_scale = sxs_keep_can_scale(sxs_ring.tools),
                                             .stretch = most_stretch()};
    sxs_ring.adapted[0] = '\0';
    switch (sxs_budget_step(&sxs_ring.budget, cost, limits)) {
    case SXS_BUDGET_SAME: return;
    case SXS_BUDGET_HIGHER:
    case SXS_BUDGET_LOWER:
        if (b->scale == 1)
            say(cost, "rates are those asked for again");
        else
            say(cost, "rates are divided by %u", b->scale);
        return;
    case SXS_BUDGET_NO_HELP:
        if (b->scale == 1)
            say(cost, "lower rates have not helped: rates are those asked for again");
        else
            say(cost, "lower rates have not helped: rates are divided by %u, as before", b->scale);
        return;
    case SXS_BUDGET_LONGER:
    case SXS_BUDGET_SHORTER:
        say(cost, "segments last %" PRIu64 " s", sxs_ring_every_ns() / 1000000000);
        return;
    case SXS_BUDGET_OVER:
        say(cost, "it stays above that; longer segments (--segment) or fewer tools cost less");
        return;
    case SXS_BUDGET_LEAST: say(cost, "the program uses little, nothing is changed"); return;
    }
}

int sxs_ring_is_too_large(void)
{
    uint64_t most = sxs_ring.settings.keep_bytes / RING_PARTS;
    return most && age_ns() > LEAST_NS &&
           sxs_segment_bytes(&sxs_ring.dir, sxs_ring.now.name, 0) > most;
}

/* A segment has a cost of its own at its begin, so the cost is compared with what a whole one may
 * cost if the program goes on like this. */
int sxs_ring_is_too_dear(void)
{
    struct sxs_ring_cost cost;
    double               whole;
    if (!sxs_ring.settings.budget || sxs_ring.budget.gave_up || age_ns() < MIN_AGE_NS)
        return 0;
    cost = cost_so_far();
    whole = (double)sxs_cost_allowed_ns(cost, sxs_ring.settings.budget) *
            (double)sxs_ring_every_ns() / (double)age_ns();
    return (double)cost.own_ns > 2 * whole;
}
