/* SPDX-License-Identifier: MIT */
/** exceptions.h - frames that an exception leaves. In callbacks, on the thread it is thrown on. */
#ifndef SXS_CALLS_EXCEPTIONS_H
#define SXS_CALLS_EXCEPTIONS_H

#include <stdint.h>

/** The second pass has come to a frame of @function (a FunctionID): its finally blocks run next. */
void sxs_calls_unwind_enter(uintptr_t function);
/** That frame is gone. */
void sxs_calls_unwind_leave(void);
/** That frame catches, and stays. */
void sxs_calls_catcher_enter(void);

#endif
