/* SPDX-License-Identifier: MIT */
/**
 * tiers.h - finds the tier at which a method was compiled. No profiler callback reports the tier.
 * An EventPipe event of the runtime does, on the thread that compiled (ICorProfilerInfo12: .NET 5
 * and later).
 */
#ifndef SXS_TOOLS_EVENTS_TIERS_H
#define SXS_TOOLS_EVENTS_TIERS_H

#include "manager/tool.h"
#include "session/format/events.h"

/** sxs_tiers_start - ask @rt for the events that report tiers. Call in the tool's start(). @session:
 *  receives the EventPipe session. Returns 1, or 0 when @rt cannot report tiers; they stay
 *  unknown. */
int sxs_tiers_start(struct sxs_runtime *rt, EVENTPIPE_SESSION *session);

/** sxs_tiers_end - end that session, by sxs_own_session_end(). */
void sxs_tiers_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *session);

/** sxs_tiers_compiled - note that @function was compiled on this thread, and set the tier in its
 *  record if the event has already come. @function: FunctionID. @span: the record, or NULL. */
void sxs_tiers_compiled(uint64_t function, struct sxs_event_span *span);

/** sxs_tiers_event - handle the callback EventPipeEventDelivered. The runtime may hold its locks,
 *  so this function does not call the runtime. */
HRESULT sxs_tiers_event(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id, DWORD version,
                        ULONG metadata_size, LPCBYTE metadata, ULONG size, LPCBYTE data,
                        LPCGUID activity, LPCGUID related, sxs_thread thread, ULONG n_frames,
                        UINT_PTR *frames);

#endif
