/* SPDX-License-Identifier: MIT */
/**
 * exceptions.h - removes frames from the shadow stack when an exception leaves them.
 *
 * All functions are called in runtime callbacks, on the thread that throws. The page
 * docs/internals/calls.md explains why these callbacks are used and others are not.
 */
#ifndef SXS_TOOLS_CALLS_EXCEPTIONS_H
#define SXS_TOOLS_CALLS_EXCEPTIONS_H

#include <stdint.h>

struct sxs_called;

/** sxs_calls_thrown - note that an exception was thrown, or thrown again. */
void sxs_calls_thrown(void);

/** sxs_calls_is_searching - return 1 when an exception was thrown and sxs_calls_search() has not
 *  yet found the throwing frame. */
int sxs_calls_is_searching(void);

/** sxs_calls_search - drop the frames that are younger than the throwing frame.
 *  @fn: the function that the first pass, which looks for a handler, has reached; NULL: not
 *  hooked. */
void sxs_calls_search(const struct sxs_called *fn);

/** sxs_calls_filter_enter - push a frame for an exception filter that starts to run.
 *  @fn: the function that contains the filter; NULL: not hooked. */
void sxs_calls_filter_enter(struct sxs_called *fn);

/** sxs_calls_filter_leave - drop the frame of the filter that has ended, and all younger frames. */
void sxs_calls_filter_leave(void);

/** sxs_calls_unwound - drop all frames that are younger than a frame whose finally or catch block
 *  starts to run. @sp: the stack pointer of that frame. */
void sxs_calls_unwound(uintptr_t sp);

#endif
