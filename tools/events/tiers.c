/* SPDX-License-Identifier: MIT */
#include "tools/events/tiers.h"

#include "tools/events_file/events_file.h"
#include "tools/events/thread_state.h"
#include "manager/own_sessions.h"
#include "symbols/compiled.h"

int sxs_tiers_start(struct sxs_runtime *rt, EVENTPIPE_SESSION *session)
{
    return sxs_runtime_has(rt, SXS_INFO_EVENT_PIPE) && SUCCEEDED(sxs_compiled_session(rt, session));
}

void sxs_tiers_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *session)
{
    sxs_compiled_session_end(rt, session);
}

void sxs_tiers_compiled(uint64_t function, struct sxs_event_span *span)
{
    struct sxs_events_thread *t = sxs_events_thread();
    if (!t)
        return;
    if (span && t->reported_fn == function) {
        span->tier = t->reported_tier;
        span->a = t->reported_size;
        span = NULL;
    }
    t->reported_fn = 0;
    t->compiled_fn = function;
    t->compiled = span;
}

HRESULT sxs_tiers_event(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id, DWORD version,
                        ULONG metadata_size, LPCBYTE metadata, ULONG size, LPCBYTE data,
                        LPCGUID activity, LPCGUID related, sxs_thread thread, ULONG n_frames,
                        UINT_PTR *frames)
{
    struct sxs_events_thread *t = sxs_events_thread_if_any();
    struct sxs_compiled     piece;
    (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (!t || sxs_events_forked() || !sxs_compiled_decode(id, data, size, &piece) || piece.gone ||
        !sxs_runtime_provider_is(sub->rt, provider))
        return S_OK;
    if (!t->compiled || piece.function != t->compiled_fn) {
        t->reported_fn = piece.function;
        t->reported_tier = piece.tier;
        t->reported_size = (uint32_t)(piece.hi - piece.lo);
        return S_OK;
    }
    t->compiled->tier = piece.tier;
    t->compiled->a = (uint32_t)(piece.hi - piece.lo);
    t->compiled = NULL;
    return S_OK;
}
