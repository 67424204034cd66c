/* SPDX-License-Identifier: MIT */
/**
 * exceptions.h - what exceptions do to the shadow stack. In callbacks, on the thread it is thrown on.
 *
 * docs/calls.md tells why it is these callbacks and no others.
 */
#ifndef SXS_CALLS_EXCEPTIONS_H
#define SXS_CALLS_EXCEPTIONS_H

#include <stdint.h>

struct sxs_called;

/** One is thrown, or thrown again. */
void sxs_calls_thrown(void);
/** 1: nothing is known yet of the frames it was thrown from: sxs_calls_search() wants to know. */
int sxs_calls_is_searching(void);
/** The first pass, which looks for a handler, has come to a frame of @fn (NULL: it is not hooked). */
void sxs_calls_search(const struct sxs_called *fn);
/** A filter of @fn (NULL: not hooked) begins, as a frame on top of all others; it has ended. */
void sxs_calls_filter_enter(struct sxs_called *fn);
void sxs_calls_filter_leave(void);
/** A finally or catch block begins in the frame whose stack pointer is @sp: younger ones are gone. */
void sxs_calls_unwound(uintptr_t sp);

#endif
