/* SPDX-License-Identifier: MIT */
/*
 * compiled.c - a profiler with an EventPipe session for the runtime's events about compiled methods,
 * for which the library's own tools have a session, too. Counts events that come twice for the same
 * code.
 */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-00000000C03B}";
const char prof_name[] = "compiled";

#define JIT_KEYWORD       0x10
#define VERBOSE           5
#define METHOD_LOADED     143 /* MethodLoadVerbose */
#define CODE_IN_THE_EVENT 16  /* bytes before the address of the code: two IDs */
#define MAX_CODE          16384

struct compiled {
    pthread_mutex_t   lock;
    EVENTPIPE_SESSION session;
    uint64_t          code[MAX_CODE]; /* addresses: a hash table */
    unsigned          n, n_repeated;
};

/* Adds an address. Returns 1 when it was there. */
static int add_code(struct compiled *own, uint64_t code)
{
    size_t at = (code >> 4) % MAX_CODE;
    while (own->code[at] && own->code[at] != code)
        at = (at + 1) % MAX_CODE;
    if (own->code[at])
        return 1;
    if (own->n < MAX_CODE / 2) {
        own->code[at] = code;
        own->n++;
    }
    return 0;
}

HRESULT prof_initialize(struct prof *p)
{
    static const WCHAR                name[] = u"Microsoft-Windows-DotNETRuntime";
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = {name, JIT_KEYWORD, VERBOSE, NULL};
    struct compiled                  *own = calloc(1, sizeof(*own));
    HRESULT hr = p->info->vtbl->SetEventMask2(p->info, 0, COR_PRF_HIGH_MONITOR_EVENT_PIPE);
    pthread_mutex_init(&own->lock, NULL);
    p->own = own;
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->EventPipeStartSession(p->info, 1, &config, 0, &own->session);
    return hr;
}

HRESULT prof_EventPipeEventDelivered(ICorProfilerCallback11 *self, EVENTPIPE_PROVIDER provider,
                                     DWORD event, DWORD version, ULONG metadata_size,
                                     LPCBYTE metadata, ULONG size, LPCBYTE data, LPCGUID activity,
                                     LPCGUID related, ThreadID thread, ULONG n_frames,
                                     UINT_PTR *frames)
{
    struct compiled *own = prof_of(self)->own;
    uint64_t         code;
    (void)provider, (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (event != METHOD_LOADED || size < CODE_IN_THE_EVENT + sizeof(code))
        return S_OK;
    memcpy(&code, data + CODE_IN_THE_EVENT, sizeof(code));
    pthread_mutex_lock(&own->lock);
    own->n_repeated += (unsigned)add_code(own, code);
    pthread_mutex_unlock(&own->lock);
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct compiled *own = p->own;
    prof_say(p, "stop 0x%08x",
             (unsigned)p->info->vtbl->EventPipeStopSession(p->info, own->session));
    prof_say(p, "events %s, repeated %u", own->n > 100 ? "many" : "few", own->n_repeated);
}
