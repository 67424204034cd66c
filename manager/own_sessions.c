/* SPDX-License-Identifier: MIT */
#include "manager/own_sessions.h"

#include <stdatomic.h>

#include "sxs_info.h"

#define MAX_SESSIONS 64u /* more are not remembered: guests get their events */

/* Entries are only added. `runtime` is stored last; 0: the entry is not complete, or not in use. */
static struct {
    _Atomic uint32_t runtime; /* its number */
    const WCHAR     *provider;
    uint64_t         keywords;
    uint32_t         level;
} sessions[MAX_SESSIONS];
static _Atomic unsigned n_sessions;

static unsigned count(void)
{
    unsigned n = atomic_load(&n_sessions);
    return n < MAX_SESSIONS ? n : MAX_SESSIONS;
}

HRESULT sxs_own_session_start(struct sxs_runtime *rt, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config,
                              EVENTPIPE_SESSION *id)
{
    unsigned at = atomic_fetch_add(&n_sessions, 1);
    HRESULT  hr;
    if (at < MAX_SESSIONS) { /* before the start, whose events come at once */
        sessions[at].provider = config->providerName;
        sessions[at].keywords = config->keywords;
        sessions[at].level = config->loggingLevel;
        atomic_store(&sessions[at].runtime, sxs_runtime_number(rt));
    }
    hr = sxs_info_EventPipeStartSession(rt, 1, config, 0, id);
    if (FAILED(hr) && at < MAX_SESSIONS)
        atomic_store(&sessions[at].runtime, 0);
    return hr;
}

unsigned sxs_own_sessions(const struct sxs_runtime *rt)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count(); i++)
        found += atomic_load(&sessions[i].runtime) == sxs_runtime_number(rt);
    return found;
}

static int is_same(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

unsigned sxs_own_sessions_enable(const struct sxs_runtime *rt, const WCHAR *provider,
                                 uint64_t keywords, uint32_t level)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count(); i++)
        found += atomic_load(&sessions[i].runtime) == sxs_runtime_number(rt) &&
                 is_same(sessions[i].provider, provider) &&
                 sxs_eventpipe_enables(sessions[i].keywords, sessions[i].level, keywords, level);
    return found;
}
