/* SPDX-License-Identifier: MIT */
/** tools/locks/pool.h - records changes of the thread pools of runtimes. */
#ifndef SXS_TOOLS_LOCKS_POOL_H
#define SXS_TOOLS_LOCKS_POOL_H

#include "manager/runtime.h"
#include "tools/locks/decode.h"

/** sxs_pool_start - ask @rt for the length of its pool's queue, once a second. Call it in start().
 *  @session: receives the EventPipe session. Returns the runtime's result. */
HRESULT sxs_pool_start(struct sxs_runtime *rt, EVENTPIPE_SESSION *session);

/** sxs_pool_end - end that session, by sxs_own_session_end(). */
void sxs_pool_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *session);

/** sxs_pool_record - record what an event says. Any thread; takes no lock. */
SXS_SIGSAFE void sxs_pool_record(const struct sxs_runtime *rt, const struct sxs_pool_event *event);

#endif
