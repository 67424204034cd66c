/* SPDX-License-Identifier: MIT */
/**
 * traced.h - what the IL of traced methods calls: values are put into words on the thread, then recorded.
 *
 * As all callouts: in cooperative mode, without a transition. From the first value of a call's beginning, or of its end,
 * to its record a thread runs no managed code, so that one text per thread is enough.
 */
#ifndef SXS_REWRITE_TRACED_H
#define SXS_REWRITE_TRACED_H

#include "instr/weave/callouts.h"
#include "values/formatter.h"

/** One method as one set of rules has it traced; lives as long as the process. */
struct sxs_traced {
    const struct sxs_marker *marker;
    struct sxs_recipe       *recipe; /* NULL: no values */
};

/** sxs_traced_value - put one into words: as sxs_recipe_put() has it. @cls: 0, or its exact type. */
void sxs_traced_value(const struct sxs_traced *t, uint32_t which, const void *at, ClassID cls);

/** sxs_traced_entered - counted, recorded if there are values; what time it is. */
uint64_t sxs_traced_entered(const struct sxs_traced *t);

/** The call ends; values come between one of these and sxs_traced_ended(). */
void sxs_traced_leaves(const struct sxs_traced *t, uint64_t entered);
void sxs_traced_throws(const struct sxs_traced *t, uint64_t entered);
void sxs_traced_ended(const struct sxs_traced *t);

#endif
