/* SPDX-License-Identifier: MIT */
/** complete.h - prepares value formatters of shared generic code; the first call completes them. */
#ifndef SXS_VALUES_COMPLETE_H
#define SXS_VALUES_COMPLETE_H

#include "values/parameters.h"

/**
 * sxs_formatter_prepare - allocate the memory that sxs_formatter_complete() needs for @r: a second
 * formatter, and room for the names of its types.
 * @r: a formatter whose by_frame is 1. Replaces marks in its type names with "?".
 * Without memory, @r->draft stays NULL and the formatter is never completed.
 * Call in a callback, before hooks use @r.
 */
void sxs_formatter_prepare(struct sxs_formatter *r);

/**
 * sxs_formatter_complete - return the complete formatter of @fn, made from @r and the frame of a
 * call.
 * @r: the formatter of @fn, with by_frame 1. @frame: the runtime's handle of the call's frame.
 * The result is valid for all instantiations that share this code.
 * Returns NULL when @frame is 0, when @r has no draft, or when a type argument is not known yet.
 * Try again in a later call.
 * Call in an enter hook: takes no lock and allocates nothing. If several threads call at the same
 * time, one completes the formatter. The others wait for at most some 20 microseconds and then get
 * NULL.
 */
struct sxs_formatter *sxs_formatter_complete(struct sxs_formatter *r, sxs_function fn,
                                             COR_PRF_FRAME_INFO frame);

#endif
