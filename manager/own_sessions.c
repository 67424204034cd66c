/* SPDX-License-Identifier: MIT */
#include "manager/own_sessions.h"

#include <stdatomic.h>
#include <string.h>

#include "manager/runtime_internal.h"
#include "sxs_info.h"

const WCHAR sxs_runtime_provider[] = u"Microsoft-Windows-DotNETRuntime";

#define MAX_SESSIONS 64u /* more are not remembered: guests get their events */

#define TAKEN UINT32_MAX /* in place of a runtime's number: the entry is being filled */

/* `runtime` is stored last; 0: the entry is free. A thread that looks an entry up while it is taken
 * again may see the members of either session. */
static struct {
    _Atomic uint32_t       runtime; /* its number */
    _Atomic(const WCHAR *) provider;
    _Atomic uint64_t       keywords;
    _Atomic uint32_t       level;
} sessions[MAX_SESSIONS];

int sxs_runtime_provider_is(struct sxs_runtime *rt, EVENTPIPE_PROVIDER provider)
{
    EVENTPIPE_PROVIDER known = atomic_load_explicit(&rt->provider, memory_order_relaxed);
    WCHAR              name[2 * ARRAY_LEN(sxs_runtime_provider)] = u"";
    ULONG              n = 0;
    if (known)
        return known == provider;
    if (FAILED(sxs_info_EventPipeGetProviderInfo(rt, provider, ARRAY_LEN(name) - 1, &n, name)) ||
        memcmp(name, sxs_runtime_provider, sizeof(sxs_runtime_provider)) != 0)
        return 0;
    atomic_store(&rt->provider, provider);
    return 1;
}

/* Returns the index of an entry that is filled and not yet in use; MAX_SESSIONS: there is none. */
static unsigned take_entry(const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config)
{
    for (unsigned i = 0; i < MAX_SESSIONS; i++) {
        uint32_t none = 0;
        if (!atomic_compare_exchange_strong(&sessions[i].runtime, &none, TAKEN))
            continue;
        atomic_store(&sessions[i].provider, config->providerName);
        atomic_store(&sessions[i].keywords, config->keywords);
        atomic_store(&sessions[i].level, config->loggingLevel);
        return i;
    }
    return MAX_SESSIONS;
}

HRESULT sxs_own_session_start(struct sxs_runtime *rt, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config,
                              EVENTPIPE_SESSION *id)
{
    unsigned at = take_entry(config);
    HRESULT  hr;
    if (at < MAX_SESSIONS) /* before the start, whose events come at once */
        atomic_store(&sessions[at].runtime, sxs_runtime_number(rt));
    hr = sxs_info_EventPipeStartSession(rt, 1, config, 0, id);
    if (FAILED(hr) && at < MAX_SESSIONS)
        atomic_store(&sessions[at].runtime, 0);
    return hr;
}

HRESULT sxs_own_session_stop(struct sxs_runtime                      *rt,
                             const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config, EVENTPIPE_SESSION id)
{
    HRESULT hr = sxs_info_EventPipeStopSession(rt, id);
    for (unsigned i = 0; i < MAX_SESSIONS; i++) {
        uint32_t number = sxs_runtime_number(rt);
        if (atomic_load(&sessions[i].runtime) == number &&
            atomic_load(&sessions[i].provider) == config->providerName &&
            atomic_load(&sessions[i].keywords) == config->keywords &&
            atomic_load(&sessions[i].level) == config->loggingLevel &&
            atomic_compare_exchange_strong(&sessions[i].runtime, &number, 0))
            break;
    }
    return hr;
}

void sxs_own_session_end(struct sxs_runtime *rt, const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config,
                         EVENTPIPE_SESSION *id)
{
    if (*id && sxs_runtime_is_live(rt))
        sxs_own_session_stop(rt, config, *id);
    *id = 0;
}

unsigned sxs_own_sessions(const struct sxs_runtime *rt)
{
    unsigned found = 0;
    for (unsigned i = 0; i < MAX_SESSIONS; i++)
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
    for (unsigned i = 0; i < MAX_SESSIONS; i++)
        found += atomic_load(&sessions[i].runtime) == sxs_runtime_number(rt) &&
                 is_same(sessions[i].provider, provider) &&
                 sxs_eventpipe_enables(sessions[i].keywords, sessions[i].level, keywords, level);
    return found;
}
