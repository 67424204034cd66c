/* SPDX-License-Identifier: MIT */
/*
 * events.c - passes the events of a runtime on to guests.
 *
 * The generated handlers call the guest's callback object with the IDs as they are. By hand are
 * those in which a guest answers by an argument: each guest sees the runtime's proposal, and the
 * runtime gets what all agree to.
 */
#include "guests/call.h"
#include "guests/events.h"

#include "guests/ids.h"
#include "rejit/rejit.h"

#include "sxs_guest_events.inc"

HRESULT guest_on_JITInlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                             BOOL *should_inline)
{
    BOOL              answer = 1; /* what the runtime proposes */
    struct guest_call call;
    HRESULT           hr;
    if (!guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, caller.id, 0);
    guest_id_note(sub->rt, callee.id, 0);
    hr = call.callback->vtbl->JITInlining(call.callback, caller.id, callee.id, &answer);
    guest_call_end(&call, hr);
    if (!answer && should_inline)
        *should_inline = 0;
    return hr;
}

HRESULT guest_on_JITCachedFunctionSearchStarted(struct sxs_sub *sub, sxs_function fn, BOOL *use)
{
    BOOL              answer = 1; /* what the runtime proposes */
    struct guest_call call;
    HRESULT           hr;
    if (!guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, fn.id, 0);
    hr = call.callback->vtbl->JITCachedFunctionSearchStarted(call.callback, fn.id, &answer);
    guest_call_end(&call, hr);
    if (!answer && use)
        *use = 0;
    return hr;
}
