/* SPDX-License-Identifier: MIT */
/** budget.h - measures the CPU time of the profiler, and computes the number by which rates must be divided to stay
 *  within the budget. */
#ifndef SXS_CONTROL_RING_BUDGET_H
#define SXS_CONTROL_RING_BUDGET_H

#include <stdint.h>

/** Times over a period, in nanoseconds. */
struct sxs_ring_cost {
    uint64_t wall_ns;
    uint64_t cpu_ns; /* CPU time of the process */
    uint64_t own_ns; /* the profiler's part: its threads, and the handler of the sample signal */
};

/** sxs_cost_now - read the clocks: the times since the process began. @handler_ns: time in the handler
 *  of the sample signal so far. Any thread. */
struct sxs_ring_cost sxs_cost_now(uint64_t handler_ns);

/** sxs_cost_between - return @now minus @then. Pure. */
struct sxs_ring_cost sxs_cost_between(struct sxs_ring_cost then, struct sxs_ring_cost now);

/** sxs_cost_allowed_ns - return the CPU time that @budget (thousandths of a percent) allows. The budget is
 *  a share of the CPU time of the program without the profiler; a program that used less than a quarter
 *  of one processor counts as one that used a quarter. At least 0.1 % of one processor is allowed. Pure. */
uint64_t sxs_cost_allowed_ns(struct sxs_ring_cost cost, unsigned budget);

/** sxs_cost_least - return what @budget always allows, in thousandths of a percent of one processor.
 *  Pure. */
uint64_t sxs_cost_least(unsigned budget);

/** The rates and the length of segments. Begin with a scale and a stretch of 1, and zeros. */
struct sxs_budget {
    unsigned scale; /* rates are divided by it: a power of two */
    unsigned
        stretch; /* segments last so many times as long as they were asked to: a power of two */
    unsigned
        before; /* the scale before rates were lowered last; 0: they were not, or that has helped */
    uint64_t
        part; /* what the profiler used then, in thousandths of a percent of the program's time */
    int gave_up; /* 1: lower rates do not help */
    int is_over; /* 1: SXS_BUDGET_OVER or SXS_BUDGET_LEAST was returned; the cost is still so */
};

enum sxs_budget_step {
    SXS_BUDGET_SAME,
    SXS_BUDGET_LOWER,  /* rates are lower in the next segment */
    SXS_BUDGET_HIGHER, /* they are higher again */
    SXS_BUDGET_NO_HELP, /* lower rates have not made the profiler cheaper: the earlier ones are back */
    SXS_BUDGET_LONGER,  /* segments are longer, because each has a cost of its own */
    SXS_BUDGET_SHORTER, /* they are shorter again */
    SXS_BUDGET_OVER,    /* nothing is left that could be changed; returned once */
    SXS_BUDGET_LEAST,   /* above that part of the program's time, but below what is always allowed;
                         * returned once */
};

/** sxs_cost_part - return the profiler's part of the program's CPU time, in thousandths of a percent.
 *  sxs_cost_of_processor - return its part of one processor. Pure. */
uint64_t sxs_cost_part(struct sxs_ring_cost cost);
uint64_t sxs_cost_of_processor(struct sxs_ring_cost cost);

/** What sxs_budget_step() may change. */
struct sxs_budget_limits {
    unsigned budget;    /* thousandths of a percent; 0: none */
    int      can_scale; /* 1: a tool has a rate that can be lowered */
    unsigned stretch;   /* how many times as long segments may be: 1 or more */
};

/**
 * sxs_budget_step - choose the rates and the length of the next segment. @cost: of the segment that
 * ends. The divisor of the rates is increased as far as the budget requires, and halved when the cost was
 * below 40 % of what is allowed. If lower rates have saved less than a quarter, the earlier rates are
 * used again, and are not lowered before the budget is met. Then, or if there are no rates to lower,
 * segments become twice as long; they become shorter again when the rates are those that were requested.
 * Pure.
 */
enum sxs_budget_step sxs_budget_step(struct sxs_budget *b, struct sxs_ring_cost cost,
                                     struct sxs_budget_limits limits);

#endif
