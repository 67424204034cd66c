/* SPDX-License-Identifier: MIT */
/** budget.h - what the profiler costs, and by how much rates must be divided to stay within the
 *  budget. */
#ifndef SXS_CONTROL_RING_BUDGET_H
#define SXS_CONTROL_RING_BUDGET_H

#include <stdint.h>

/** Times since a moment, in nanoseconds. */
struct sxs_cost {
    uint64_t wall_ns;
    uint64_t cpu_ns; /* CPU time of the process */
    uint64_t own_ns; /* of this the profiler's: its threads, and the handler of the sample signal */
};

/** sxs_cost_now - read the clocks: the times since the process began. @handler_ns: time in the handler
 *  of the sample signal so far. Any thread. */
struct sxs_cost sxs_cost_now(uint64_t handler_ns);

/** sxs_cost_between - return @now minus @then. Pure. */
struct sxs_cost sxs_cost_between(struct sxs_cost then, struct sxs_cost now);

/** sxs_cost_allowed_ns - return the CPU time that @budget (thousandths of a percent) allows: that part
 *  of what the program used itself, but at least 0.1 % of one processor. Pure. */
uint64_t sxs_cost_allowed_ns(struct sxs_cost cost, unsigned budget);

/**
 * sxs_budget_scale - return the number that rates are divided by in the next segment.
 * @scale: that of the segment that cost @cost. The result is a power of two: the rates are
 * divided by more as far as the budget needs it, and by half as much if the cost was below 40 % of what is
 * allowed.
 * Pure.
 */
unsigned sxs_budget_scale(unsigned scale, struct sxs_cost cost, unsigned budget);

#endif
