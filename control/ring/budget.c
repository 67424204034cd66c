/* SPDX-License-Identifier: MIT */
#include "control/ring/budget.h"

#include "base/clock.h"
#include "base/thread.h"
#include "control/keep/keep_settings.h"

#define WHOLE        100000u /* thousandths of a percent */
#define LEAST        100u    /* of one processor: 0.1 % */
#define QUIET        4u /* a program counts as if it used this part of one processor: a quarter */
#define RISE_PERCENT 40u

struct sxs_ring_cost sxs_cost_now(uint64_t handler_ns)
{
    return (struct sxs_ring_cost){.wall_ns = sxs_now_ns(CLOCK_MONOTONIC),
                                  .cpu_ns = sxs_now_ns(CLOCK_PROCESS_CPUTIME_ID),
                                  .own_ns = sxs_thread_own_cpu_ns() + handler_ns};
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct sxs_ring_cost sxs_cost_between(struct sxs_ring_cost then, struct sxs_ring_cost now)
{
    return (struct sxs_ring_cost){minus(now.wall_ns, then.wall_ns), minus(now.cpu_ns, then.cpu_ns),
                                  minus(now.own_ns, then.own_ns)};
}

uint64_t sxs_cost_allowed_ns(struct sxs_ring_cost cost, unsigned budget)
{
    uint64_t of_program = minus(cost.cpu_ns, cost.own_ns) / WHOLE * budget;
    uint64_t least = cost.wall_ns / WHOLE * sxs_cost_least(budget);
    return of_program > least ? of_program : least;
}

uint64_t sxs_cost_least(unsigned budget)
{
    return budget / QUIET > LEAST ? budget / QUIET : LEAST;
}

uint64_t sxs_cost_of_processor(struct sxs_ring_cost cost)
{
    return cost.own_ns * 10 / (cost.wall_ns / 10000 + 1);
}

uint64_t sxs_cost_part(struct sxs_ring_cost cost)
{
    return cost.own_ns * 10 / (minus(cost.cpu_ns, cost.own_ns) / 10000 + 1);
}

/* The scale at which a cost of @own_ns would be allowed, if all of it came from the rates. */
static unsigned wanted_scale(unsigned scale, uint64_t own_ns, uint64_t allowed)
{
    while (own_ns > allowed && scale < SXS_KEEP_MAX_SCALE) {
        own_ns /= 2;
        scale *= 2;
    }
    return scale;
}

static enum sxs_budget_step lengthen(struct sxs_budget *b, struct sxs_budget_limits limits)
{
    if (b->stretch * 2 <= limits.stretch) {
        b->stretch *= 2;
        return SXS_BUDGET_LONGER;
    }
    if (b->is_over)
        return SXS_BUDGET_SAME;
    b->is_over = 1;
    return SXS_BUDGET_OVER;
}

static enum sxs_budget_step lower(struct sxs_budget *b, struct sxs_ring_cost cost, uint64_t allowed,
                                  struct sxs_budget_limits limits)
{
    uint64_t part = sxs_cost_part(cost);
    if (!limits.can_scale || b->gave_up || b->scale >= SXS_KEEP_MAX_SCALE)
        return lengthen(b, limits);
    if (b->before && part * 4 > b->part * 3) {
        b->scale = b->before;
        b->before = 0;
        b->gave_up = 1;
        return SXS_BUDGET_NO_HELP;
    }
    b->before = b->scale;
    b->part = part;
    b->scale = wanted_scale(b->scale, cost.own_ns, allowed);
    return SXS_BUDGET_LOWER;
}

/* The cost is allowed. */
static enum sxs_budget_step rise(struct sxs_budget *b, struct sxs_ring_cost cost, uint64_t allowed,
                                 struct sxs_budget_limits limits)
{
    int was_over = b->is_over;
    b->before = 0;
    b->gave_up = 0;
    b->is_over = sxs_cost_part(cost) > limits.budget;
    if (cost.own_ns * 100 < allowed * RISE_PERCENT && b->scale > 1) {
        b->scale /= 2;
        return SXS_BUDGET_HIGHER;
    }
    if (cost.own_ns * 100 < allowed * RISE_PERCENT && b->stretch > 1) {
        b->stretch /= 2;
        return SXS_BUDGET_SHORTER;
    }
    return b->is_over && !was_over ? SXS_BUDGET_LEAST : SXS_BUDGET_SAME;
}

enum sxs_budget_step sxs_budget_step(struct sxs_budget *b, struct sxs_ring_cost cost,
                                     struct sxs_budget_limits limits)
{
    uint64_t allowed = sxs_cost_allowed_ns(cost, limits.budget);
    if (!limits.budget || !cost.wall_ns)
        return SXS_BUDGET_SAME;
    return cost.own_ns > allowed ? lower(b, cost, allowed, limits) : rise(b, cost, allowed, limits);
}
