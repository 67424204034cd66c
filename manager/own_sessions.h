/* SPDX-License-Identifier: MIT */
/**
 * own_sessions.h - the EventPipe sessions that the library's own tools start.
 *
 * A runtime delivers the events of all sessions through one callback and does not say which session
 * an event is for. Tools start their sessions here, so that guests do not get the events of these.
 */
#ifndef SXS_MANAGER_OWN_SESSIONS_H
#define SXS_MANAGER_OWN_SESSIONS_H

#include <stdint.h>

#include "manager/tool.h"

/** The name of the provider of a runtime's own events. Zero-terminated. */
extern const WCHAR sxs_runtime_provider[];

/** sxs_runtime_provider_is - return 1 when @provider raises the runtime's own events: other providers
 *  have events with the same numbers. To be called in the callback that delivers an event, also
 *  while the runtime has suspended its threads: it answers without a lock. */
int sxs_runtime_provider_is(struct sxs_runtime *rt, EVENTPIPE_PROVIDER provider);

/** sxs_own_session_start - start a session of @rt with one provider, and remember it until
 *  sxs_own_session_stop(). @config: its providerName lives as long as the process. @id: receives
 *  the session. Returns the runtime's result. Any thread on which Info may be called; not
 *  signal-safe. */
HRESULT sxs_own_session_start(struct sxs_runtime *rt, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config,
                              EVENTPIPE_SESSION *id);

/** sxs_own_session_stop - stop the session @id that was started with @config. Returns the runtime's
 *  result. Threads: as sxs_own_session_start(). */
HRESULT sxs_own_session_stop(struct sxs_runtime                      *rt,
                             const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config, EVENTPIPE_SESSION id);

/** sxs_own_session_end - stop the session *@id unless it is 0 or the runtime has ended, and set *@id to
 *  0. For stop() of a tool, and for its release(), which is called without stop() when the runtime
 *  has refused the mask of a tool that had started. Threads: as sxs_own_session_start(). */
void sxs_own_session_end(struct sxs_runtime *rt, const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config,
                         EVENTPIPE_SESSION *id);

/** sxs_own_sessions - return the number of these sessions of @rt. Any thread; takes no lock. */
unsigned sxs_own_sessions(const struct sxs_runtime *rt);

/** sxs_own_sessions_enable - return how many of these sessions of @rt enable an event.
 *  @provider: its provider's name, zero-terminated. Any thread; takes no lock. */
unsigned sxs_own_sessions_enable(const struct sxs_runtime *rt, const WCHAR *provider,
                                 uint64_t keywords, uint32_t level);

/** sxs_eventpipe_enables - return 1 when a session that asks for @wanted_keywords to @wanted_level
 *  of a provider enables an event of that provider. */
static inline int sxs_eventpipe_enables(uint64_t wanted_keywords, uint32_t wanted_level,
                                        uint64_t keywords, uint32_t level)
{
    return (level == 0 || level <= wanted_level) &&
           (keywords == 0 || (keywords & wanted_keywords) != 0);
}

#endif
