/* SPDX-License-Identifier: MIT */
/**
 * tiers.h - at which tier a method was compiled. No callback says so; an event of the runtime's does,
 * which follows on the same thread (ICorProfilerInfo12: .NET 5 and later).
 */
#ifndef SXS_EVENTS_TIERS_H
#define SXS_EVENTS_TIERS_H

#include "manager/tool.h"
#include "session/format/events.h"

/** In the tool's start(). 1: @rt will tell; 0: it cannot or will not, tiers stay unknown. */
int sxs_tiers_start(struct sxs_runtime *rt);

/** @function was compiled on this thread just now; @span: its record, or NULL. */
void sxs_tiers_compiled(uint64_t function, struct sxs_event_span *span);

/** The callback. The runtime's locks may be held: asks the runtime nothing. */
HRESULT sxs_tiers_event(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id, DWORD version,
                        ULONG metadata_size, LPCBYTE metadata, ULONG size, LPCBYTE data,
                        LPCGUID activity, LPCGUID related, sxs_thread thread, ULONG n_frames,
                        UINT_PTR *frames);

#endif
