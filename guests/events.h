/* SPDX-License-Identifier: MIT */
/** events.h - the events of guests whose handlers are written by hand. */
#ifndef SXS_GUESTS_EVENTS_H
#define SXS_GUESTS_EVENTS_H

#include "guests/guest.h"

/** guest_first_compilation - struct sxs_tool.first_compilation of guests. */
HRESULT guest_first_compilation(struct sxs_sub *sub, sxs_function fn, int finished, HRESULT status);

/** guest_first_body - struct sxs_tool.first_body of guests that have one. */
void guest_first_body(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                      const uint8_t **bytes, uint32_t *size);

HRESULT guest_on_JITCompilationStarted(struct sxs_sub *sub, sxs_function fn, BOOL safe);
HRESULT guest_on_JITCompilationFinished(struct sxs_sub *sub, sxs_function fn, HRESULT status,
                                        BOOL safe);
/** guest_deliver_... - the same without the question whether the event is due. */
HRESULT guest_deliver_JITCompilationStarted(struct sxs_sub *sub, sxs_function fn, BOOL safe);
HRESULT guest_deliver_JITCompilationFinished(struct sxs_sub *sub, sxs_function fn, HRESULT status,
                                             BOOL safe);
HRESULT guest_on_JITInlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                             BOOL *should_inline);
HRESULT guest_on_JITCachedFunctionSearchStarted(struct sxs_sub *sub, sxs_function fn, BOOL *use);
HRESULT guest_on_GetReJITParameters(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                                    ICorProfilerFunctionControl *control);
HRESULT guest_on_ReJITCompilationStarted(struct sxs_sub *sub, sxs_function fn, sxs_rejit version,
                                         BOOL safe);
HRESULT guest_on_ReJITCompilationFinished(struct sxs_sub *sub, sxs_function fn, sxs_rejit version,
                                          HRESULT status, BOOL safe);
HRESULT guest_on_ReJITError(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                            sxs_function fn, HRESULT status);
HRESULT guest_on_EventPipeEventDelivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider,
                                         DWORD event, DWORD event_version, ULONG metadata_size,
                                         LPCBYTE metadata, ULONG size, LPCBYTE data,
                                         LPCGUID activity, LPCGUID related, sxs_thread thread,
                                         ULONG n_frames, UINT_PTR *frames);

#endif
