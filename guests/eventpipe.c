/* SPDX-License-Identifier: MIT */
/*
 * eventpipe.c - EventPipe sessions of guests.
 *
 * A runtime delivers an event once for each session that enables it, on the writing thread, one
 * session after the other, and does not say which session it is for. All sessions of all guests
 * are listed here with the providers they ask for. For each delivery the sessions that enable the
 * event are found from the provider's name and the event's keywords and level. A thread deals
 * consecutive deliveries of one event out to these sessions in turn, and after them to the sessions
 * of the library's tools (manager/own_sessions.h), whose events no guest gets.
 */
#include "guests/eventpipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "guests/call.h"
#include "guests/events.h"
#include "guests/ids.h"
#include "guests/info_by_hand.h"
#include "manager/own_sessions.h"

#define MAX_SESSIONS 64u
#define NAME_CHARS   128u

/* A provider that a session asks for. */
struct wanted {
    struct wanted *next;
    WCHAR          name[NAME_CHARS];
    uint64_t       keywords;
    uint32_t       level;
};

struct guest_session {
    const struct sxs_runtime *rt;
    struct guest_instance    *g;
    uint64_t                  handle;
    int                       informed; /* it has received its ProcessInfo event */
    struct wanted            *wanted;
};

/* Sessions in order of their start. */
static struct {
    pthread_mutex_t      lock; /* a leaf lock: nothing is called under it */
    unsigned             n;
    struct guest_session all[MAX_SESSIONS];
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sessions.lock);

static size_t length_of(const WCHAR *text)
{
    size_t n = 0;
    while (n + 1 < NAME_CHARS && text[n])
        n++;
    return n;
}

static struct wanted *make_wanted(const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *config)
{
    struct wanted *w = config->providerName ? calloc(1, sizeof(*w)) : NULL;
    if (!w)
        return NULL;
    memcpy(w->name, config->providerName, length_of(config->providerName) * sizeof(WCHAR));
    w->keywords = config->keywords;
    w->level = config->loggingLevel;
    return w;
}

static void free_wanted(struct wanted *w)
{
    while (w) {
        struct wanted *next = w->next;
        free(w);
        w = next;
    }
}

/* Lists a session that was started. Without room, events of the session are not separated from others: returns -1. */
static int add_session(struct guest_instance *g, uint64_t handle, struct wanted *wanted)
{
    int added = -1;
    pthread_mutex_lock(&sessions.lock);
    if (sessions.n < MAX_SESSIONS) {
        sessions.all[sessions.n++] = (struct guest_session){g->rt, g, handle, 0, wanted};
        added = 0;
    }
    pthread_mutex_unlock(&sessions.lock);
    return added;
}

static struct guest_session *find_locked(const struct guest_instance *g, uint64_t handle)
{
    for (unsigned i = 0; i < sessions.n; i++)
        if (sessions.all[i].g == g && sessions.all[i].handle == handle)
            return &sessions.all[i];
    return NULL;
}

/* Removes a session of the guest, any of them with a @handle of 0. Returns its handle, or 0. */
static uint64_t remove_session(const struct guest_instance *g, uint64_t handle)
{
    uint64_t       removed = 0;
    struct wanted *wanted = NULL;
    pthread_mutex_lock(&sessions.lock);
    for (unsigned i = 0; i < sessions.n && !removed; i++) {
        struct guest_session *s = &sessions.all[i];
        if (s->g != g || (handle && s->handle != handle))
            continue;
        removed = s->handle;
        wanted = s->wanted;
        memmove(s, s + 1, (sessions.n - i - 1) * sizeof(*s));
        sessions.n--;
    }
    pthread_mutex_unlock(&sessions.lock);
    free_wanted(wanted);
    return removed;
}

static int is_own_session(const struct guest_instance *g, uint64_t handle)
{
    int own;
    pthread_mutex_lock(&sessions.lock);
    own = find_locked(g, handle) != NULL;
    pthread_mutex_unlock(&sessions.lock);
    return own;
}

void guest_eventpipe_end(struct guest_instance *g)
{
    ICorProfilerInfo15 *info = g->real;
    uint64_t            handle;
    while ((handle = remove_session(g, 0)) != 0)
        if (info)
            info->vtbl->EventPipeStopSession(info, handle);
}

/* The guest whose session the calling thread is stopping: the runtime then writes the rundown to it,
 * although the session asks for no such provider. */
static SXS_TLS const struct guest_instance *stopping;

/* ---- calls of the Info ------------------------------------------------------------------------ */

/* The providers of a session. Returns NULL, and sets @failed, without memory. */
static struct wanted *make_list(UINT32 n, const COR_PRF_EVENTPIPE_PROVIDER_CONFIG *configs,
                                int *failed)
{
    struct wanted *first = NULL;
    *failed = 0;
    for (UINT32 i = 0; configs && i < n && !*failed; i++) {
        struct wanted *w = make_wanted(&configs[i]);
        if (w) {
            w->next = first;
            first = w;
        } else {
            *failed = configs[i].providerName != NULL;
        }
    }
    return first;
}

HRESULT guest_info_EventPipeStartSession(ICorProfilerInfo15 *self, UINT32 cProviderConfigs,
                                         COR_PRF_EVENTPIPE_PROVIDER_CONFIG *pProviderConfigs,
                                         BOOL requestRundown, EVENTPIPE_SESSION *pSession)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    struct wanted         *wanted;
    int                    failed;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_EventPipeStartSession, &info);
    if (FAILED(hr))
        return hr;
    wanted = make_list(cProviderConfigs, pProviderConfigs, &failed);
    hr = failed ? E_OUTOFMEMORY
                : info->vtbl->EventPipeStartSession(info, cProviderConfigs, pProviderConfigs,
                                                    requestRundown, pSession);
    if (SUCCEEDED(hr) && pSession && add_session(g, *pSession, wanted) == 0)
        return guest_info_end(g, hr);
    free_wanted(wanted);
    return guest_info_end(g, hr);
}

HRESULT guest_info_EventPipeAddProviderToSession(ICorProfilerInfo15               *self,
                                                 EVENTPIPE_SESSION                 session,
                                                 COR_PRF_EVENTPIPE_PROVIDER_CONFIG providerConfig)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    struct guest_session  *s;
    struct wanted         *w;
    HRESULT hr = guest_info_begin(g, SXS_INFO_SLOT_EventPipeAddProviderToSession, &info);
    if (SUCCEEDED(hr) && !is_own_session(g, session))
        hr = E_INVALIDARG;
    if (FAILED(hr))
        return hr;
    hr = info->vtbl->EventPipeAddProviderToSession(info, session, providerConfig);
    w = SUCCEEDED(hr) ? make_wanted(&providerConfig) : NULL;
    if (!w)
        return guest_info_end(g, hr);
    pthread_mutex_lock(&sessions.lock);
    s = find_locked(g, session);
    if (s) {
        w->next = s->wanted;
        s->wanted = w;
    }
    pthread_mutex_unlock(&sessions.lock);
    if (!s)
        free(w);
    return guest_info_end(g, hr);
}

HRESULT guest_info_EventPipeStopSession(ICorProfilerInfo15 *self, EVENTPIPE_SESSION session)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_EventPipeStopSession, &info);
    if (FAILED(hr))
        return hr;
    /* A runtime returns S_OK for a handle that is none of its sessions (8, 9, 10). */
    if (!is_own_session(g, session))
        return guest_info_end(g, S_OK);
    stopping = g;
    hr = info->vtbl->EventPipeStopSession(info, session);
    stopping = NULL;
    remove_session(g, session);
    return guest_info_end(g, hr);
}

/* ---- events ----------------------------------------------------------------------------------- */

/* What decides which sessions enable an event. */
struct event_kind {
    WCHAR    provider[NAME_CHARS];
    uint64_t keywords;
    uint32_t level;
};

/* Reads keywords and level from the metadata of an event: its ID, its name with a zero character,
 * the keywords, the version, the level. Returns 0, or -1 when it is too short. */
static int read_metadata(const uint8_t *at, size_t size, struct event_kind *out)
{
    size_t end = sizeof(uint32_t);
    while (end + 2 <= size && (at[end] || at[end + 1]))
        end += 2;
    end += 2;
    if (size < end || size - end < sizeof(uint64_t) + 2 * sizeof(uint32_t))
        return -1;
    memcpy(&out->keywords, at + end, sizeof(out->keywords));
    memcpy(&out->level, at + end + sizeof(uint64_t) + sizeof(uint32_t), sizeof(out->level));
    return 0;
}

static int enables(const struct guest_session *s, const struct event_kind *kind)
{
    for (const struct wanted *w = s->wanted; w; w = w->next)
        if (memcmp(w->name, kind->provider, sizeof(w->name)) == 0 &&
            sxs_eventpipe_enables(w->keywords, w->level, kind->keywords, kind->level))
            return 1;
    return 0;
}

/* The calling thread's latest delivery. */
static SXS_TLS struct {
    const struct sxs_sub        *sub; /* the guest that was asked last about it */
    const struct guest_instance *owner;
    EVENTPIPE_PROVIDER           provider;
    DWORD                        event;
    unsigned                     turn; /* number of deliveries of this event in a row */
} latest;

/* Finds the guest that the thread's delivery number @turn is for; NULL: for a session of the
 * library. Returns the number of sessions that enable the event. */
static unsigned find_owner(const struct sxs_runtime *rt, const struct event_kind *kind,
                           unsigned turn, const struct guest_instance **owner)
{
    const struct guest_instance *owners[MAX_SESSIONS];
    unsigned                     n = 0, n_own;
    pthread_mutex_lock(&sessions.lock);
    for (unsigned i = 0; i < sessions.n; i++)
        if (sessions.all[i].rt == rt && enables(&sessions.all[i], kind))
            owners[n++] = sessions.all[i].g;
    pthread_mutex_unlock(&sessions.lock);
    n_own = sxs_own_sessions_enable(rt, kind->provider, kind->keywords, kind->level);
    turn = n + n_own ? turn % (n + n_own) : 0;
    *owner = turn < n ? owners[turn] : NULL;
    return n + n_own;
}

/* When a session ends, the runtime writes one event of this provider, ProcessInfo, to every session
 * that is still there. A guest that is alone gets one for each of its sessions, so the deliveries
 * are dealt out one for each session, and the others are dropped. */
static const WCHAR process_info[] = {'M', 'i', 'c', 'r', 'o', 's', 'o', 'f', 't', '-', 'D',
                                     'o', 't', 'N', 'E', 'T', 'C', 'o', 'r', 'e', '-', 'E',
                                     'v', 'e', 'n', 't', 'P', 'i', 'p', 'e', 0};

static const struct guest_instance *find_uninformed(const struct sxs_runtime *rt)
{
    const struct guest_instance *found = NULL;
    pthread_mutex_lock(&sessions.lock);
    for (unsigned i = 0; i < sessions.n && !found; i++) {
        struct guest_session *s = &sessions.all[i];
        if (s->rt != rt || s->informed || (stopping && s->g != stopping))
            continue;
        s->informed = 1;
        found = s->g;
    }
    pthread_mutex_unlock(&sessions.lock);
    return found;
}

/* Returns the only guest with sessions on this runtime; NULL when there are several, or none. */
static const struct guest_instance *only_guest(const struct sxs_runtime *rt, int *several)
{
    const struct guest_instance *only = NULL;
    *several = 0;
    pthread_mutex_lock(&sessions.lock);
    for (unsigned i = 0; i < sessions.n; i++) {
        if (sessions.all[i].rt != rt)
            continue;
        *several |= only && only != sessions.all[i].g;
        only = sessions.all[i].g;
    }
    pthread_mutex_unlock(&sessions.lock);
    return *several ? NULL : only;
}

/* Reads what decides which sessions enable an event. Returns 0, or -1 when the runtime does not tell
 * it. */
static int read_kind(ICorProfilerInfo15 *info, EVENTPIPE_PROVIDER provider, const uint8_t *metadata,
                     size_t size, struct event_kind *out)
{
    ULONG n = 0;
    memset(out, 0, sizeof(*out));
    if (!info || FAILED(info->vtbl->EventPipeGetProviderInfo(info, provider, NAME_CHARS - 1, &n,
                                                             out->provider)))
        return -1;
    for (size_t i = length_of(out->provider); i < NAME_CHARS; i++)
        out->provider[i] = 0; /* names are compared whole */
    return read_metadata(metadata, size, out);
}

/* Finds the owner of a delivery that begins with @sub. */
static void begin_delivery(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD event,
                           const uint8_t *metadata, size_t size)
{
    const struct guest_instance *only;
    struct guest_instance       *g = sub->state;
    struct event_kind            kind;
    int                          several;
    unsigned                     n;
    latest.turn = latest.provider == provider && latest.event == event ? latest.turn + 1 : 0;
    latest.provider = provider;
    latest.event = event;
    only = only_guest(sub->rt, &several);
    latest.owner = only;
    if ((!several && !(only && sxs_own_sessions(sub->rt))) ||
        read_kind(g->real, provider, metadata, size, &kind) != 0)
        return;
    n = find_owner(sub->rt, &kind, latest.turn, &latest.owner);
    if (n)
        return;
    if (memcmp(kind.provider, process_info, sizeof(process_info)) == 0)
        latest.owner = find_uninformed(sub->rt);
    else
        latest.owner = several ? stopping : only;
}

HRESULT guest_on_EventPipeEventDelivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider,
                                         DWORD event, DWORD event_version, ULONG metadata_size,
                                         LPCBYTE metadata, ULONG size, LPCBYTE data,
                                         LPCGUID activity, LPCGUID related, sxs_thread thread,
                                         ULONG n_frames, UINT_PTR *frames)
{
    struct guest_instance *g = sub->state;
    struct guest_call      call;
    HRESULT                hr;
    /* The manager calls the guests of one delivery in the order of their subscriptions. */
    if (latest.sub == NULL || latest.sub->rt != sub->rt || sub <= latest.sub ||
        latest.provider != provider || latest.event != event)
        begin_delivery(sub, provider, event, metadata, metadata_size);
    latest.sub = sub;
    if (!g || latest.owner != g || !guest_call_begin(g, &call))
        return S_OK;
    guest_id_note(sub->rt, provider, 1);
    guest_id_note(sub->rt, thread.id, 1);
    hr = call.callback->vtbl->EventPipeEventDelivered(call.callback, provider, event, event_version,
                                                      metadata_size, metadata, size, data, activity,
                                                      related, thread.id, n_frames, frames);
    guest_call_end(&call, hr);
    return hr;
}
