/* SPDX-License-Identifier: MIT */
/**
 * walk_request.h - ask another thread for its stack: it is sent the sample signal, its handler walks
 * into a buffer of the asker's.
 *
 * One thread asks (the walker "snapshot"); any answers. A thread that does not answer in time, in an
 * uninterruptible system call or with the signal blocked, is given up: should its handler come later,
 * it finds that nobody waits.
 */
#ifndef SXS_WALK_REQUEST_H
#define SXS_WALK_REQUEST_H

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
 * sxs_walk_request - the stack of thread @tid, walked by itself.
 * @limit_us: how long to wait for it.
 * @ask: sends that thread the sample signal, whose handler calls sxs_walk_request_take(). Returns 0, or an error.
 * Returns the answer, valid until the next request; NULL: none came. Not signal-safe; one thread.
 */
const struct sxs_walk_answer *sxs_walk_request(uint32_t tid, unsigned limit_us,
                                              int (*ask)(uint32_t tid));

/** What the handler on thread @tid is to fill in (ips, sps, n, end), or NULL: nobody asked. */
SXS_SIGSAFE struct sxs_walk_answer *sxs_walk_request_take(uint32_t tid);
/** It is filled in: the asker goes on. */
SXS_SIGSAFE void sxs_walk_request_done(struct sxs_walk_answer *answer);

#endif
