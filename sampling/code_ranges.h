/* SPDX-License-Identifier: MIT */
/** sampling/code_ranges.h - a sorted list of address ranges that do not overlap. */
#ifndef SXS_SAMPLING_CODE_RANGES_H
#define SXS_SAMPLING_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct sxs_runtime;

struct sxs_code_range {
    uintptr_t           lo, hi;
    struct sxs_runtime *rt;       /* only compared */
    uint64_t            function; /* FunctionID, only compared; 0: no function */
};

/** Zeroed: empty. Not synchronized: callers must exclude each other. */
struct sxs_code_ranges {
    struct sxs_code_range *list; /* owned */
    size_t                 n, cap;
};

/** sxs_code_ranges_has - 1 if @ip lies in a range, else 0. */
int sxs_code_ranges_has(const struct sxs_code_ranges *ranges, uintptr_t ip);

/** sxs_code_ranges_put - add a range in place of those that it overlaps. When memory runs out,
 *  nothing is changed. */
void sxs_code_ranges_put(struct sxs_code_ranges *ranges, struct sxs_code_range range);

/** sxs_code_ranges_cut - remove the ranges that overlap @lo to @hi. */
void sxs_code_ranges_cut(struct sxs_code_ranges *ranges, uintptr_t lo, uintptr_t hi);

/** sxs_code_ranges_forget - remove the ranges of @rt; if @function is not 0, only those of that
 *  function. */
void sxs_code_ranges_forget(struct sxs_code_ranges *ranges, const struct sxs_runtime *rt,
                            uint64_t function);

#endif
