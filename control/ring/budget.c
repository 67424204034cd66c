/* SPDX-License-Identifier: MIT */
#include "control/ring/budget.h"

#include "base/clock.h"
#include "base/thread.h"
#include "control/keep/keep_settings.h"

#define WHOLE        100000u /* thousandths of a percent */
#define LEAST        100u    /* of one processor: 0.1 % */
#define RISE_PERCENT 40u

struct sxs_cost sxs_cost_now(uint64_t handler_ns)
{
    return (struct sxs_cost){.wall_ns = sxs_now_ns(CLOCK_MONOTONIC),
                             .cpu_ns = sxs_now_ns(CLOCK_PROCESS_CPUTIME_ID),
                             .own_ns = sxs_thread_own_cpu_ns() + handler_ns};
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct sxs_cost sxs_cost_between(struct sxs_cost then, struct sxs_cost now)
{
    return (struct sxs_cost){minus(now.wall_ns, then.wall_ns), minus(now.cpu_ns, then.cpu_ns),
                             minus(now.own_ns, then.own_ns)};
}

uint64_t sxs_cost_allowed_ns(struct sxs_cost cost, unsigned budget)
{
    uint64_t of_program = minus(cost.cpu_ns, cost.own_ns) / WHOLE * budget;
    uint64_t least = cost.wall_ns / WHOLE * LEAST;
    return of_program > least ? of_program : least;
}

unsigned sxs_budget_scale(unsigned scale, struct sxs_cost cost, unsigned budget)
{
    uint64_t allowed = sxs_cost_allowed_ns(cost, budget), own = cost.own_ns;
    if (!budget || !cost.wall_ns)
        return scale;
    if (own <= allowed)
        return scale > 1 && own * 100 < allowed * RISE_PERCENT ? scale / 2 : scale;
    while (own > allowed && scale < SXS_KEEP_MAX_SCALE) {
        own /= 2;
        scale *= 2;
    }
    return scale;
}
