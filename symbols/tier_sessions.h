/* SPDX-License-Identifier: MIT */
/**
 * symbols/tier_sessions.h - decides when each runtime's EventPipe session is started, and starts
 * it on a thread of its own.
 *
 * Enabling the provider makes the runtime's managed EventSource describe itself on the thread
 * that enables it: some 60 ms of CPU time. In Initialize that would be the host's thread, before
 * the program begins. So the session is started one second later, on a thread of the library. A
 * program that has ended by then has no cost. Code that is compiled until then is reported by
 * JITCompilationFinished (symbols/early.h).
 *
 * A runtime checks if there is a session when a compilation begins. So a compilation that is in
 * progress when the session starts is reported by JITCompilationFinished only, and the runtime
 * is asked for that event until all such compilations have ended. */
#ifndef SXS_SYMBOLS_TIER_SESSIONS_H
#define SXS_SYMBOLS_TIER_SESSIONS_H

#include "manager/tool.h"

/**
 * The events that the tool requests until the session runs and the compilations in progress have
 * ended. Part of the mask that the tool's start() fills in. */
#define SXS_TIER_SESSIONS_LOW ((uint32_t)COR_PRF_MONITOR_JIT_COMPILATION)

/**
 * sxs_tier_sessions_expect - plan a session for @sub's runtime: at once if the library was
 * attached to it, else one second from now. Called in the tool's start(). */
void sxs_tier_sessions_expect(struct sxs_sub *sub);

/**
 * sxs_tier_sessions_is_expected - 1 if a session is planned for @rt and has not been started
 * yet. Any thread. */
int sxs_tier_sessions_is_expected(const struct sxs_runtime *rt);

/**
 * sxs_tier_sessions_compiling - note that @rt began (@began: 1) or finished (0) a compilation.
 * Called in the callbacks that report this. */
void sxs_tier_sessions_compiling(const struct sxs_runtime *rt, int began);

/** sxs_tier_sessions_end - stop the session of @rt, which goes on, or see that it is not started.
 *  @limit_ns: how long to wait for the thread that works on it, which may be inside of the runtime.
 *  Returns 0, or -ETIMEDOUT; then the thread ends the session when it comes back, if
 *  sxs_tier_sessions_leave_behind() follows. Threads: as sxs_compiled_session(). */
int sxs_tier_sessions_end(struct sxs_runtime *rt, uint64_t limit_ns);

/** sxs_tier_sessions_leave_behind - go on without the thread in sxs_tier_sessions_run(), which is
 *  inside of a runtime that does not return. When the runtime returns, the thread stops the session
 *  that was started, and ends; it touches nothing of the profiler's present session. Until then no
 *  session is started in that runtime. Any thread. */
void sxs_tier_sessions_leave_behind(void);

/**
 * sxs_tier_sessions_forget - remove @rt, which has ended. If its session is just being started,
 * that goes on; the runtime refuses calls that are too late. Any thread. */
void sxs_tier_sessions_forget(const struct sxs_runtime *rt);

/**
 * sxs_tier_sessions_due - 1 if sxs_tier_sessions_run() has work and no thread was assigned to it
 * yet. Then the caller must make such a thread. Any thread. */
int sxs_tier_sessions_due(void);

/**
 * sxs_tier_sessions_run - start all sessions that are due, and stop requesting the events that
 * were needed until then. Must run on a thread made for this purpose by sxs_thread_start(),
 * which must end afterwards, because it becomes one of the runtime's threads. */
void sxs_tier_sessions_run(void);

/**
 * sxs_tier_sessions_failed - note that the thread for sxs_tier_sessions_run() could not be made,
 * so that sxs_tier_sessions_due() returns 1 again. */
void sxs_tier_sessions_failed(void);

#endif
