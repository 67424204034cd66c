/* SPDX-License-Identifier: MIT */
/**
 * traced.h - callouts of traced methods: format values into text buffers of the thread, and record
 * them.
 *
 * They run as all callouts (instr/weave/callouts.h): in cooperative mode, without a transition.
 * From the first value of a call's beginning to the record of this beginning a thread runs no
 * managed code; the same holds for the end of a call. So one set of text buffers per thread is
 * enough.
 */
#ifndef SXS_INSTR_WEAVE_TRACED_H
#define SXS_INSTR_WEAVE_TRACED_H

#include "instr/weave/callouts.h"
#include "values/formatter.h"

/** One traced method; its address is a constant in the method's new IL. Lives as long as the
 *  process. */
struct sxs_traced {
    const struct sxs_marker *marker;
    struct sxs_formatter    *formatter; /* the value formatter; NULL: no values */
};

/**
 * sxs_traced_value - format a value into the thread's text buffer.
 * @which: number of the argument (`this` counts), or SXS_VALUE_RESULT or SXS_VALUE_EXCEPTION.
 * @at:    address of the variable.
 * @cls:   the exact type, or 0 when the formatter knows it.
 */
void sxs_traced_value(const struct sxs_traced *t, uint32_t which, const void *at, ClassID cls);

/** sxs_traced_entered - count a call that begins, and record its arguments if there are any.
 *  Returns what the end of the call needs: the time in ticks, and whether the call is recorded. */
uint64_t sxs_traced_entered(const struct sxs_traced *t);

/** The call ends: it returns (leaves), or an exception leaves it (throws). @entered: what
 *  sxs_traced_entered() returned. Then the values at the end follow, then sxs_traced_ended(). */
void sxs_traced_leaves(const struct sxs_traced *t, uint64_t entered);
void sxs_traced_throws(const struct sxs_traced *t, uint64_t entered);

/** sxs_traced_ended - record the end of the call with the values since. */
void sxs_traced_ended(const struct sxs_traced *t);

#endif
