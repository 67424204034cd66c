/* SPDX-License-Identifier: MIT */
/**
 * runtime_calls.h - let a thread of the library call functions of runtimes.
 *
 * All signals are blocked on such a thread (base/thread.h). A runtime that runs managed code there
 * must be able to stop it and to handle its faults, so these signals are unblocked around calls of
 * runtimes, and only then: at other times the kernel would deliver signals of the host there.
 */
#ifndef SXS_SIGNALS_LIBRARY_RUNTIME_CALLS_H
#define SXS_SIGNALS_LIBRARY_RUNTIME_CALLS_H

/** sxs_runtime_calls_begin - unblock the signals by which runtimes stop their threads and handle
 *  faults. To be called on a thread of the library before functions of a runtime that may run or
 *  stop managed code. Not signal-safe. */
void sxs_runtime_calls_begin(void);

/** sxs_runtime_calls_end - block all signals again. */
void sxs_runtime_calls_end(void);

#endif
