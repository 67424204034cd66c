/* SPDX-License-Identifier: MIT */
/**
 * base/sum.h - sums of counts that a file claims.
 */
#ifndef SXS_BASE_SUM_H
#define SXS_BASE_SUM_H

#include <stdint.h>

/** sxs_sum_add - add @v to @to. A sum that does not fit becomes the largest number, and stays it: a count
 *  that nobody can have counted is shown as such, not as a small one. Pure. */
static inline void sxs_sum_add(uint64_t *to, uint64_t v)
{
    *to = v < UINT64_MAX - *to ? *to + v : UINT64_MAX;
}

#endif
