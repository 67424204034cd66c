/* SPDX-License-Identifier: MIT */
/* ring_rates.c - what a segment costs, in CPU time and on disk, and the rates of the next one. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/ring_internal.h"
#include "tools/recorder/recorder.h"

#define SETTLE_NS  INT64_C(10000000000) /* before the cost of a segment is judged */
#define LEAST_NS   INT64_C(1000000000)  /* a segment that is too large lasts so long all the same */
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

static struct sxs_cost cost_so_far(void)
{
    return sxs_cost_between(sxs_ring.now.cost, sxs_cost_now(sxs_ring_handler_ns()));
}

/* Writes "1.25" of thousandths. */
static void put_percent(char out[24], uint64_t thousandths)
{
    snprintf(out, 24, "%" PRIu64 ".%02" PRIu64, thousandths / 1000, thousandths % 1000 / 10);
}

/* Says what is changed, in the log and in the description of the next segment. */
static void say(const char *what, unsigned scale, uint64_t part)
{
    char used[24], limit[24], number[12] = "";
    put_percent(used, part);
    put_percent(limit, sxs_ring.settings.budget);
    if (scale > 1)
        snprintf(number, sizeof(number), " %u", scale);
    snprintf(sxs_ring.adapted, sizeof(sxs_ring.adapted),
             "the profiler used %s %% of the program's CPU time, and %s %% is the budget: %s%s",
             used, limit, what, number);
    sxs_warn("%s: %s", sxs_ring.path, sxs_ring.adapted);
}

void sxs_ring_adapt(void)
{
    struct sxs_cost cost = cost_so_far();
    uint64_t        part = sxs_cost_part(cost);
    int             gave_up = sxs_ring.budget.gave_up;
    sxs_ring.adapted[0] = '\0';
    switch (sxs_budget_step(&sxs_ring.budget, cost, sxs_ring.settings.budget)) {
    case SXS_BUDGET_SAME: return;
    case SXS_BUDGET_HIGHER:
    case SXS_BUDGET_LOWER:
        if (sxs_keep_can_scale(sxs_ring.tools)) {
            say(sxs_ring.budget.scale == 1 ? "rates are those asked for again"
                                           : "rates are divided by",
                sxs_ring.budget.scale, part);
            return;
        }
        sxs_ring.budget = (struct sxs_budget){.scale = 1, .gave_up = 1};
        if (!gave_up)
            say("no tool has a rate that can be lowered", 0, part);
        return;
    case SXS_BUDGET_NO_HELP:
        say(sxs_ring.budget.scale == 1
                ? "lower rates have not helped: rates are those asked for again"
                : "lower rates have not helped, the earlier ones are back: rates are divided by",
            sxs_ring.budget.scale, part);
        return;
    }
}

int sxs_ring_is_too_large(void)
{
    uint64_t most = sxs_ring.settings.keep_bytes / RING_PARTS;
    return most && age_ns() > LEAST_NS &&
           sxs_segment_bytes(&sxs_ring.dir, sxs_ring.now.name, 0) > most;
}

int sxs_ring_is_too_dear(void)
{
    struct sxs_cost cost;
    if (!sxs_ring.settings.budget || sxs_ring.budget.gave_up || age_ns() < SETTLE_NS)
        return 0;
    cost = cost_so_far();
    return cost.own_ns > 2 * sxs_cost_allowed_ns(cost, sxs_ring.settings.budget);
}
