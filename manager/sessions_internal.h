/* SPDX-License-Identifier: MIT */
/** sessions_internal.h - what manager.c and detach.c call in sessions.c. */
#ifndef SXS_MANAGER_SESSIONS_INTERNAL_H
#define SXS_MANAGER_SESSIONS_INTERNAL_H

#include <stdint.h>

#include "manager/sessions.h"
#include "manager/settings.h"

/* How long handlers may go on before tools are stopped, so that what they record is complete. */
#define SXS_LEAVE_NS UINT64_C(500000000)
/* How long the end of a session, or a detach, waits for threads that are inside of handlers. */
#define SXS_DRAIN_NS UINT64_C(5000000000)

/** sxs_sessions_init - the first session, if the environment names tools. @settings, @tools: live as
 *  long as the process. Called once, under manager.lock. */
void sxs_sessions_init(const struct sxs_settings *settings, const struct sxs_tool *const *tools,
                       size_t n_tools);

/** sxs_sessions_lock, sxs_sessions_unlock - take turns with the begin and the end of sessions. */
void sxs_sessions_lock(void);
void sxs_sessions_unlock(void);

/** sxs_sessions_subscribe - start the tools that are always on, those of the session and the guests on
 *  a runtime that is being initialized. Called with sxs_sessions_lock() held. Returns S_OK. */
HRESULT sxs_sessions_subscribe(struct sxs_runtime *rt);

/* ---- for the detach; with sxs_sessions_lock() held ---- */

/** sxs_sessions_end_any - end the session if one is on. Returns as sxs_session_end(), and 0 if none is
 *  on; -ENOTSUP in a forked child. */
int sxs_sessions_end_any(char why[SXS_SESSION_WHY]);

/** sxs_sessions_have_guests - return 1 when other profilers run inside this one. */
int sxs_sessions_have_guests(void);

/** sxs_sessions_subscribe_always - start the tools that are always on once more. */
void sxs_sessions_subscribe_always(struct sxs_runtime *rt);

#endif
