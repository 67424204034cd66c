/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/snapshot/walk_request.h - gets the stack of another thread: that thread receives the
 * sample signal, and its handler walks into a buffer of the requesting thread.
 *
 * One thread at a time makes requests; any thread may answer. A request is
 * withdrawn when the thread does not answer in time, because it is in an uninterruptible system
 * call or has the signal blocked. A handler that runs after that finds no request. */
#ifndef SXS_STACKWALK_SNAPSHOT_WALK_REQUEST_H
#define SXS_STACKWALK_SNAPSHOT_WALK_REQUEST_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/base.h"
#include "session/format/samples.h"

struct sxs_walk_answer {
    _Atomic uint32_t    state; /* private */
    enum sxs_sample_end end;
    size_t              n;
    uintptr_t           ips[SXS_MAX_STACK], sps[SXS_MAX_STACK]; /* youngest first */
};

/**
 * sxs_walk_request_hold, sxs_walk_request_release - must enclose a request and the use of its
 * answer. sxs_walk_request_hold() waits for the requests of other threads, at most @limit_us
 * microseconds; returns 0, or -EAGAIN when that was not enough. Not signal-safe. */
int  sxs_walk_request_hold(unsigned limit_us);
void sxs_walk_request_release(void);

/**
 * sxs_walk_request - make thread @tid walk its own stack.
 * @limit_us: how long to wait for the answer, microseconds.
 * @ask: sends the sample signal to the thread; the signal's handler calls
 *   sxs_walk_request_take(). Returns 0 or an error.
 * Returns the answer, which is valid until sxs_walk_request_release(), or NULL when there was none.
 * Not signal-safe. */
const struct sxs_walk_answer *sxs_walk_request(uint32_t tid, unsigned limit_us,
                                              int (*ask)(uint32_t tid));

/**
 * sxs_walk_request_take - the buffer that the handler on thread @tid must fill in (ips, sps, n,
 * end), or NULL when the stack of this thread was not requested. */
SXS_SIGSAFE struct sxs_walk_answer *sxs_walk_request_take(uint32_t tid);
/** sxs_walk_request_done - wake the requesting thread, because @answer is complete. */
SXS_SIGSAFE void sxs_walk_request_done(struct sxs_walk_answer *answer);

#endif
