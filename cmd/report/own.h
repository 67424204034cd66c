/* SPDX-License-Identifier: MIT */
/**
 * own.h - which part of a sampled stack is the profiler's own work.
 *
 * A stack can lead from the program into the profiler: a runtime calls back, compiled code calls a hook. What lies there
 * and everything that it called is no time of the program's. Reports take it off the program's stack, and put it on a
 * frame "[sxsprof]" of its own.
 */
#ifndef SXS_REPORT_OWN_H
#define SXS_REPORT_OWN_H

#include "cmd/report/addresses.h"

/** The name of that frame. */
#define SXS_OWN_NAME "[sxsprof]"

/**
 * sxs_own_frames - how many of the @n youngest-first frames are the profiler's work: 0 if none.
 * @starts_sessions: the process's tools had the runtime report events from its start: describing those events is the
 * profiler's work, too. Own are:
 *   - frames of libsxsprof.so that a runtime or managed code called, and all that they called;
 *   - frames of libsxsprof.so and libsxsprof-preload.so that called nothing but each other: functions that stand in for
 *     the C library's (mmap, sigaction...) and the signal router pass on to what is not the profiler's;
 *   - with @starts_sessions, a managed EventSource that is told to begin.
 */
size_t sxs_own_frames(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                      bool starts_sessions);

/** sxs_own_frame - the frame "[sxsprof]" of @m. */
uint32_t sxs_own_frame(struct sxs_model *m);

/** sxs_own_thread - is a thread of that name the profiler's? */
bool sxs_own_thread(const char *name);

#endif
