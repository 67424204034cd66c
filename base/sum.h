/* SPDX-License-Identifier: MIT */
/**
 * base/sum.h - adds counts that were read from an untrusted file.
 */
#ifndef SXS_BASE_SUM_H
#define SXS_BASE_SUM_H

#include <stdint.h>

/** sxs_sum_add - add @v to @to. A sum that does not fit becomes UINT64_MAX and stays so: an impossible
 *  count is then shown as impossible, and not as a small number. Pure. */
static inline void sxs_sum_add(uint64_t *to, uint64_t v)
{
    *to = v < UINT64_MAX - *to ? *to + v : UINT64_MAX;
}

#endif
