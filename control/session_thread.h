/* SPDX-License-Identifier: MIT */
/**
 * session_thread.h - the thread "sxsprof session", which runs the requests to begin and to end
 * sessions, one job after the other, and ends sessions whose time limit has been reached.
 */
#ifndef SXS_CONTROL_SESSION_THREAD_H
#define SXS_CONTROL_SESSION_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

/** Work for the thread. Belongs to the thread that submits it, which must not free it before `done` is 1. */
struct sxs_job {
    void (*run)(struct sxs_job *job);
    _Atomic int     done;
    struct sxs_job *next; /* list link of session_thread.c */
};

/**
 * sxs_session_thread_start - start the thread. To be called once, on a thread that has the host's
 * descriptor table.
 * @done: called on the thread after each job and after the end of a session by its time limit.
 * Returns 0, or the error number of pthread_create(). Not signal-safe.
 */
int sxs_session_thread_start(void (*done)(void));

/** sxs_session_thread_submit - run @job on the thread, after the jobs that were submitted earlier.
 *  Sets `done` to 0, and to 1 after run(). Any thread; takes a lock; not signal-safe. */
void sxs_session_thread_submit(struct sxs_job *job);

/**
 * sxs_session_thread_limit - end session @number after @ms milliseconds; 0: not by itself.
 * @number: 0: no session has begun; after @ms, detach from the runtimes if no session is on.
 * @detach: 1: also detach from the runtimes.
 * There is one limit at a time; a later call replaces it. If another session is on when the time is
 * over, nothing happens. Returns 0, or -ENOTSUP if the thread does not run. Any thread; not signal-safe.
 */
int sxs_session_thread_limit(unsigned number, uint64_t ms, int detach);

/** sxs_session_thread_watch - call @is_over on the thread every fifth of a second. When it returns 1, the time
 *  limit that was set last counts as reached. The calls end with the next sxs_session_thread_limit(). Any thread. */
void sxs_session_thread_watch(int (*is_over)(void));

/** sxs_session_thread_left_ms - return after how many milliseconds session @number ends by its time
 *  limit, at least 1; 0: it has none. Any thread. */
uint64_t sxs_session_thread_left_ms(unsigned number);

/** sxs_session_thread_end - end session @number, if it is on, and with @detach detach from the
 *  runtimes. @number: 0: only detach, if no session is on. Logs one line when it cannot be ended. Only
 *  on the thread. */
void sxs_session_thread_end(unsigned number, int detach);

/**
 * sxs_session_thread_also - add functions for the thread to call. @turn: called after each job, and when
 * the time that its last call returned is over (nanoseconds; 0: no limit). @ended: called with the number
 * of a session when its end was requested or its time limit was reached; returns 1 if it has ended a ring
 * that had no session at that time. Any thread.
 */
void sxs_session_thread_also(uint64_t (*turn)(void), int (*ended)(unsigned number));

/** sxs_session_thread_runs - return 1 if the thread runs in this process. Any thread. */
int sxs_session_thread_runs(void);

/** sxs_session_thread_wake - make the thread call the functions above soon. Any thread. */
void sxs_session_thread_wake(void);

/* ---- sessions that are continued by another one (control/ring.h) ---- */

/** sxs_session_thread_goes_on - note that session @after continues session @before. A time limit or a
 *  connection that ended @before from now on ends @after. @before may continue an earlier session; 0:
 *  there was none. */
void sxs_session_thread_goes_on(unsigned before, unsigned after);

/** sxs_session_thread_is_same - return 1 if @a and @b are the same session, or one is the continuation of the
 *  other (sxs_session_thread_goes_on()). Any thread. */
int sxs_session_thread_is_same(unsigned a, unsigned b);

/** sxs_session_thread_change - note the beginning, and later the end, of the change from one session to its
 *  continuation. Between the two calls no session is on. Any thread. */
void sxs_session_thread_change(void);

/** sxs_session_thread_n_changes - return how often the function above was called. While the number is odd,
 *  a change is in progress. Any thread. */
unsigned sxs_session_thread_n_changes(void);

#define SXS_DETACH_TIMEOUT_MS 200u /* for sxs_runtimes_detach(), unless a request says otherwise */

#endif
