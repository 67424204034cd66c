/* SPDX-License-Identifier: MIT */
/**
 * session_thread.h - the thread "sxsprof session", on which sessions begin and end by request: one
 * job after the other, and the end of a session that has a time limit.
 */
#ifndef SXS_CONTROL_SESSION_THREAD_H
#define SXS_CONTROL_SESSION_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/base.h"

/** Work for the thread. Belongs to who submits it, and must stay until `done` is 1. */
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

/** sxs_session_thread_submit - run @job on the thread, behind the jobs that were submitted earlier.
 *  Sets `done` to 0, and to 1 after run(). Any thread; takes a lock; not signal-safe. */
void sxs_session_thread_submit(struct sxs_job *job);

/**
 * sxs_session_thread_limit - end session @number after @ms milliseconds; 0: not by itself.
 * @number: 0: no session has begun: detach from the runtimes if none is on then.
 * @detach: 1: and detach from the runtimes.
 * There is one limit at a time; a later one replaces it. Nothing happens if another session is on
 * then. Returns 0, or -ENOTSUP if the thread does not run. Any thread; not signal-safe.
 */
int sxs_session_thread_limit(unsigned number, uint64_t ms, int detach);

/** sxs_session_thread_watch - call @is_over on the thread every fifth of a second; when it returns 1, the time
 *  limit set last is over. Until the next sxs_session_thread_limit(). Any thread. */
void sxs_session_thread_watch(int (*is_over)(void));

/** sxs_session_thread_left_ms - return after how many milliseconds session @number ends by its time
 *  limit, at least 1; 0: it has none. Any thread. */
uint64_t sxs_session_thread_left_ms(unsigned number);

/** sxs_session_thread_end - end session @number, if it is on, and with @detach detach from the
 *  runtimes. @number: 0: only detach, if no session is on. Logs one line when it cannot be ended. Only
 *  on the thread. */
void sxs_session_thread_end(unsigned number, int detach);

/**
 * sxs_session_thread_also - call @turn on the thread whenever it has done something, and when the time
 * is over that @turn returned: nanoseconds; 0: for ever. Call @ended when the thread has ended a session,
 * or should have, by its number; it returns 1 if it has ended what goes on as that session without
 * being one now. Any thread.
 */
void sxs_session_thread_also(uint64_t (*turn)(void), int (*ended)(unsigned number));

/** sxs_session_thread_runs - return 1 if the thread runs in this process. Any thread. */
int sxs_session_thread_runs(void);

/** sxs_session_thread_wake - have the functions above called soon. Any thread. */
void sxs_session_thread_wake(void);

/* ---- sessions that go on as another one (control/ring.h) ---- */

/** sxs_session_thread_goes_on - session @after records what session @before recorded until now. A
 *  time limit or a connection that ends the one, ends the other. @before: 0: none; it
 *  may have gone on as another one before. */
void sxs_session_thread_goes_on(unsigned before, unsigned after);

/** sxs_session_thread_is_same - return 1 if session @b is session @a, or has gone on as it, or the other way
 *  round. Any thread. */
int sxs_session_thread_is_same(unsigned a, unsigned b);

/** sxs_session_thread_change - a session begins to go on as another one, and meanwhile none is on; or
 *  that has been done, or will not be done. Any thread. */
void sxs_session_thread_change(void);

/** sxs_session_thread_n_changes - return how often the function above was called. Odd: no session is
 *  on for a moment. Any thread. */
unsigned sxs_session_thread_n_changes(void);

#define SXS_DETACH_TIMEOUT_MS 200u /* for sxs_runtimes_detach(), unless a request says otherwise */

#endif
