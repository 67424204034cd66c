/* SPDX-License-Identifier: MIT */
/** sessions_internal.h - what manager.c calls in sessions.c. */
#ifndef SXS_MANAGER_SESSIONS_INTERNAL_H
#define SXS_MANAGER_SESSIONS_INTERNAL_H

#include "manager/sessions.h"
#include "manager/settings.h"

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

#endif
