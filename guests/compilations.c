/* SPDX-License-Identifier: MIT */
/* compilations.c - passes compilations of methods on to guests: of originals, and of new IL to the
 * guests that have requested it. A guest that has not requested it gets the first compilation of a
 * method in any case (rejit/rejit.h). */
#include "guests/call.h"
#include "guests/events.h"
#include "guests/ids.h"
#include "rejit/rejit.h"

static HRESULT call_started(struct guest_instance *g, sxs_function fn, BOOL safe)
{
    struct guest_call call;
    HRESULT           hr;
    if (!guest_call_begin(g, &call))
        return S_OK;
    guest_id_note(fn.rt, fn.id, 0);
    hr = call.callback->vtbl->JITCompilationStarted(call.callback, fn.id, safe);
    guest_call_end(&call, hr);
    return hr;
}

static HRESULT call_finished(struct guest_instance *g, sxs_function fn, HRESULT status, BOOL safe)
{
    struct guest_call call;
    HRESULT           hr;
    if (!guest_call_begin(g, &call))
        return S_OK;
    guest_id_note(fn.rt, fn.id, 0);
    hr = call.callback->vtbl->JITCompilationFinished(call.callback, fn.id, status, safe);
    guest_call_end(&call, hr);
    return hr;
}

HRESULT guest_deliver_JITCompilationStarted(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    return call_started(sub->state, fn, safe);
}

HRESULT guest_deliver_JITCompilationFinished(struct sxs_sub *sub, sxs_function fn, HRESULT status,
                                             BOOL safe)
{
    return call_finished(sub->state, fn, status, safe);
}

HRESULT guest_on_JITCompilationStarted(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    return sxs_rejit_is_due(sub, fn, 0) ? call_started(sub->state, fn, safe) : S_OK;
}

HRESULT guest_on_JITCompilationFinished(struct sxs_sub *sub, sxs_function fn, HRESULT status,
                                        BOOL safe)
{
    return sxs_rejit_is_due(sub, fn, 1) ? call_finished(sub->state, fn, status, safe) : S_OK;
}

HRESULT guest_first_compilation(struct sxs_sub *sub, sxs_function fn, int finished, HRESULT status)
{
    if (finished)
        return call_finished(sub->state, fn, status, 1);
    return call_started(sub->state, fn, 1);
}

/* Returns 1 when the compilation @version of @fn is due to the guest as what it is. */
static int is_asked(struct sxs_sub *sub, sxs_function fn, sxs_rejit version)
{
    const struct guest_instance *g = sub->state;
    return g->version >= 4 && sxs_rejit_is_asked(sub, fn, version.id);
}

HRESULT guest_on_ReJITCompilationStarted(struct sxs_sub *sub, sxs_function fn, sxs_rejit version,
                                         BOOL safe)
{
    struct guest_call call;
    HRESULT           hr;
    if (!is_asked(sub, fn, version)) {
        sxs_rejit_first_begins(sub, fn);
        return S_OK;
    }
    if (!guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, fn.id, 0);
    hr = call.callback->vtbl->ReJITCompilationStarted(call.callback, fn.id, version.id, safe);
    guest_call_end(&call, hr);
    return hr;
}

HRESULT guest_on_ReJITCompilationFinished(struct sxs_sub *sub, sxs_function fn, sxs_rejit version,
                                          HRESULT status, BOOL safe)
{
    struct guest_call call;
    HRESULT           hr;
    sxs_rejit_first_ends(sub, fn, status);
    if (!is_asked(sub, fn, version) || !guest_call_begin(sub->state, &call))
        return S_OK;
    guest_id_note(sub->rt, fn.id, 0);
    hr = call.callback->vtbl->ReJITCompilationFinished(call.callback, fn.id, version.id, status,
                                                       safe);
    guest_call_end(&call, hr);
    return hr;
}
