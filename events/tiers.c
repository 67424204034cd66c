/* SPDX-License-Identifier: MIT */
#include "events/tiers.h"

#include "events/file.h"
#include "events/mine.h"
#include "sampler/compiled.h"

int sxs_tiers_start(struct sxs_runtime *rt)
{
    EVENTPIPE_SESSION id = 0;
    return sxs_runtime_info_version(rt) >= 12 && SUCCEEDED(sxs_compiled_session(rt, &id));
}

void sxs_tiers_compiled(uint64_t function, struct sxs_event_span *span)
{
    struct sxs_events_mine *mine = sxs_events_mine();
    if (!mine)
        return;
    if (span && mine->told_fn == function) {
        span->tier = mine->told_tier;
        span->a = mine->told_size;
        span = NULL;
    }
    mine->told_fn = 0;
    mine->compiled_fn = function;
    mine->compiled = span;
}

HRESULT sxs_tiers_event(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id, DWORD version,
                        ULONG metadata_size, LPCBYTE metadata, ULONG size, LPCBYTE data,
                        LPCGUID activity, LPCGUID related, sxs_thread thread, ULONG n_frames,
                        UINT_PTR *frames)
{
    struct sxs_events_mine *mine = sxs_events_mine_if_any();
    struct sxs_compiled     piece;
    (void)sub, (void)provider, (void)version, (void)metadata_size, (void)metadata, (void)activity;
    (void)related, (void)thread, (void)n_frames, (void)frames;
    if (!mine || sxs_events_forked() || !sxs_compiled_decode(id, data, size, &piece) || piece.gone)
        return S_OK;
    if (!mine->compiled || piece.function != mine->compiled_fn) {
        mine->told_fn = piece.function;
        mine->told_tier = piece.tier;
        mine->told_size = (uint32_t)(piece.hi - piece.lo);
        return S_OK;
    }
    mine->compiled->tier = piece.tier;
    mine->compiled->a = (uint32_t)(piece.hi - piece.lo);
    mine->compiled = NULL;
    return S_OK;
}
