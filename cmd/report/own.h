/* SPDX-License-Identifier: MIT */
/**
 * own.h - find the part of a sampled stack that is the profiler's own work.
 *
 * A stack can lead from the program into the profiler: a runtime calls a callback, or compiled code
 * calls a hook. The time spent there, and in everything called from there, is not the program's
 * time. Reports remove these frames from the program's stack and add them below a frame
 * "[sxsprof]".
 */
#ifndef SXS_CMD_REPORT_OWN_H
#define SXS_CMD_REPORT_OWN_H

#include "cmd/report/model.h"
#include "cmd/report/named.h"

/** The name of the frame that stands for the profiler's own work. */
#define SXS_OWN_NAME "[sxsprof]"

/**
 * sxs_own_frames - return how many of the @n youngest frames are the profiler's work; 0 when none.
 * @frames: youngest first. @starts_sessions: the tools of the process let the runtime report events
 * from its start, so that describing these events is the profiler's work, too.
 * The profiler's work is:
 *   - frames of libsxsprof.so or libsxsprof-clrie.so that a runtime or managed code called, or the loader and the C library
 *     as the library is loaded and as threads and the process end; and all frames that these called;
 *   - frames of libsxsprof.so and of the preloaded libraries at the young end of the stack, which called
 *     only each other. Older frames of these libraries are not included, because interposed
 *     functions of the C library (mmap, sigaction...) and the signal router call code that is not
 *     the profiler's;
 *   - with @starts_sessions, a managed EventSource that is notified that a session begins, and all
 *     frames that it called.
 */
size_t sxs_own_frames(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                      bool starts_sessions);

/** sxs_own_frame - return the number of the frame "[sxsprof]" of @m; added when new. */
uint32_t sxs_own_frame(struct sxs_model *m);

/** sxs_own_thread - return true when a thread of this name belongs to the profiler. */
bool sxs_own_thread(const char *name);

#endif
