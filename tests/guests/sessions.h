/* SPDX-License-Identifier: MIT */
/**
 * sessions.h - a profiler with an EventPipe session of its own. The file that includes it defines
 * prof_clsid, prof_name, and the keywords and the level that its session asks for.
 */
#ifndef SXS_TESTS_GUESTS_SESSIONS_H
#define SXS_TESTS_GUESTS_SESSIONS_H

#include "tests/guests/names.h"

extern const UINT64 session_keywords;
extern const UINT32 session_level;

struct piped {
    struct prof_sums sums;
    EVENTPIPE_SESSION session;
};

/* Returns a handle that is not the profiler's: the one that another profiler has written to the file
 * PROF_SESSION names, or a made-up one. Writes the profiler's own. */
static inline EVENTPIPE_SESSION session_of_another(EVENTPIPE_SESSION own)
{
    const char        *path = getenv("PROF_SESSION");
    FILE              *file = path ? fopen(path, "r") : NULL;
    unsigned long long other = 0x123456780;
    if (file) {
        if (fscanf(file, "%llx", &other) != 1)
            abort();
        fclose(file);
    }
    file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%llx\n", (unsigned long long)own);
        fclose(file);
    }
    return other;
}

/* Passes a handle that is not the profiler's. */
static inline void use_another(struct prof *p, COR_PRF_EVENTPIPE_PROVIDER_CONFIG config)
{
    struct piped     *own = p->own;
    EVENTPIPE_SESSION other = session_of_another(own->session);
    HRESULT           added, stopped;
    added = p->info->vtbl->EventPipeAddProviderToSession(p->info, other, config);
    stopped = p->info->vtbl->EventPipeStopSession(p->info, other);
    prof_say(p, "other session: add 0x%08x, stop 0x%08x", (unsigned)added, (unsigned)stopped);
}

HRESULT prof_initialize(struct prof *p)
{
    static const WCHAR name[] = {'S', 'x', 's', '-', 'P', 'r', 'o', 'f', 'i', 'l', 'e', 'd', 0};
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = {name, session_keywords, session_level, NULL};
    struct piped                     *own = calloc(1, sizeof(*own));
    HRESULT hr = p->info->vtbl->SetEventMask2(p->info, 0, COR_PRF_HIGH_MONITOR_EVENT_PIPE);
    pthread_mutex_init(&own->sums.lock, NULL);
    p->own = own;
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->EventPipeStartSession(p->info, 1, &config, 0, &own->session);
    if (SUCCEEDED(hr))
        use_another(p, config);
    return hr;
}

/* Counts an event by its provider, its name, keywords and level, which its metadata has. */
HRESULT prof_EventPipeEventDelivered(ICorProfilerCallback11 *self, EVENTPIPE_PROVIDER provider,
                                     DWORD event, DWORD version, ULONG metadata_size,
                                     LPCBYTE metadata, ULONG size, LPCBYTE data, LPCGUID activity,
                                     LPCGUID related, ThreadID thread, ULONG n_frames,
                                     UINT_PTR *frames)
{
    struct prof  *p = prof_of(self);
    struct piped *own = p->own;
    WCHAR         wide[128] = {0};
    char          name[128] = "?", text[64] = "", line[256];
    ULONG         n = 0, at = 4;
    uint64_t      keywords = 0;
    uint32_t      level = 0;
    (void)version, (void)data, (void)activity, (void)related, (void)thread, (void)n_frames;
    (void)frames;
    if (SUCCEEDED(p->info->vtbl->EventPipeGetProviderInfo(p->info, provider, 127, &n, wide)))
        prof_narrow(wide, name, sizeof(name));
    for (size_t i = 0; at + 2 <= metadata_size && (metadata[at] || metadata[at + 1]); at += 2)
        if (i + 1 < sizeof(text))
            text[i++] = (char)metadata[at];
    if (at + 18 <= metadata_size) {
        memcpy(&keywords, metadata + at + 2, 8);
        memcpy(&level, metadata + at + 14, 4);
    }
    snprintf(line, sizeof(line), "%.60s event %u %.40s keywords 0x%llx level %u size %u", name,
             event, text, (unsigned long long)keywords, level, size > 100 ? 0 : size);
    prof_sums_add(&own->sums, line, 1);
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct piped *own = p->own;
    prof_say(p, "stop 0x%08x",
             (unsigned)p->info->vtbl->EventPipeStopSession(p->info, own->session));
    prof_sums_say(p, &own->sums);
}

#endif
