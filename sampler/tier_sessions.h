/* SPDX-License-Identifier: MIT */
/**
 * tier_sessions.h - when each runtime's EventPipe session is started, and on which thread.
 *
 * Enabling the provider makes the runtime's managed EventSource describe itself on the thread that does it: some 60 ms
 * of CPU time. In Initialize that would be the host's thread, before the program begins. So the session is started one
 * second later, on a thread of the library's own; a program that has ended by then pays nothing. What is compiled until
 * then is known from JITCompilationFinished (early.h).
 *
 * A runtime looks whether there is a session when a compilation begins: a compilation under way at that moment is
 * reported by JITCompilationFinished alone. So the runtime is asked for that event until those have finished.
 */
#ifndef SXS_SAMPLER_TIER_SESSIONS_H
#define SXS_SAMPLER_TIER_SESSIONS_H

#include "manager/tool.h"

/** The events that the tool asks for until the session runs and earlier compilations are over: part of the mask that
 *  start() fills in. */
#define SXS_TIER_SESSIONS_LOW ((uint32_t)COR_PRF_MONITOR_JIT_COMPILATION)

/** sxs_tier_sessions_expect - @sub's runtime gets a session: at once if it was attached to, else a second from now. In
 *  the tool's start(). */
void sxs_tier_sessions_expect(struct sxs_sub *sub);

/** sxs_tier_sessions_is_expected - 1: the session of @rt has not been started yet. Any thread. */
int sxs_tier_sessions_is_expected(const struct sxs_runtime *rt);

/** sxs_tier_sessions_compiling - a compilation of @rt's began (@began: 1) or ended (0). In the callbacks that say so. */
void sxs_tier_sessions_compiling(const struct sxs_runtime *rt, int began);

/** sxs_tier_sessions_forget - @rt has ended. A session being started goes on; the runtime refuses what comes too
 *  late. Any thread. */
void sxs_tier_sessions_forget(const struct sxs_runtime *rt);

/** sxs_tier_sessions_due - 1: sxs_tier_sessions_run() has work, and no thread has been told so yet. Any thread. */
int sxs_tier_sessions_due(void);

/** sxs_tier_sessions_run - start all sessions that are due, and end what is needed until then. On a thread made for this
 *  by sxs_thread_start(), which must end afterwards: it becomes a runtime's own. */
void sxs_tier_sessions_run(void);

/** sxs_tier_sessions_failed - the thread that was to call sxs_tier_sessions_run() could not be made: try again. */
void sxs_tier_sessions_failed(void);

#endif
