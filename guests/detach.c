/* SPDX-License-Identifier: MIT */
/*
 * detach.c - detaches one guest from a runtime on which others stay.
 *
 * The request is checked as a runtime checks it. A thread of the library then does the work, because
 * the guest may make its request inside a callback, and every callback must have returned first.
 */
#include <pthread.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "guests/elt.h"
#include "guests/eventpipe.h"
#include "guests/ids.h"
#include "guests/info_by_hand.h"

#define WAIT_MS 1000u

/* Instances that are to be detached; each holds one reference. `running`: the thread exists. */
static struct {
    pthread_mutex_t        lock;
    struct guest_instance *first;
    int                    running;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(waiting.lock);

static struct guest_instance *take_next(void)
{
    struct guest_instance *g;
    pthread_mutex_lock(&waiting.lock);
    g = waiting.first;
    if (g)
        waiting.first = g->next_detached;
    else
        waiting.running = 0;
    pthread_mutex_unlock(&waiting.lock);
    return g;
}

/* Ends the instance as a runtime ends a profiler that has asked for it: first no event starts, then
 * all have returned, then the guest is notified, then its object is released. */
static void detach_one(struct guest_instance *g)
{
    int is_empty = 0;
    sxs_sub_set_mask(g->sub, 0, 0);
    if (!guest_claim_end(g)) /* its runtime is shutting down */
        return;
    guest_eventpipe_end(g);
    guest_elt_forget(g);
    while (!is_empty && sxs_runtime_is_live(g->rt))
        is_empty = guest_end(g, SXS_GUEST_DETACHED, WAIT_MS);
    if (is_empty) {
        g->callback->vtbl->ProfilerDetachSucceeded(g->callback);
        atomic_fetch_add(&g->row->callbacks, 1);
        guest_let_go(g);
    }
    sxs_note("%s is detached from runtime %u", g->guest->title, sxs_runtime_number(g->rt));
    guest_disconnect(g);
}

static void detach_waiting(void)
{
    struct guest_instance *g;
    while ((g = take_next()) != NULL) {
        detach_one(g);
        guest_info_unref(g);
    }
}

/* Gives the instance to the thread, which is started if there is none. */
static HRESULT hand_over(struct guest_instance *g)
{
    static const struct sxs_thread thread = {"sxsprof detach", detach_waiting};
    HRESULT                        hr = S_OK;
    pthread_mutex_lock(&waiting.lock);
    g->next_detached = waiting.first;
    waiting.first = g;
    if (!waiting.running && sxs_thread_start(&thread) != 0) {
        waiting.first = g->next_detached;
        hr = E_OUTOFMEMORY;
    } else {
        waiting.running = 1;
    }
    pthread_mutex_unlock(&waiting.lock);
    return hr;
}

/* Returns S_OK when the guest may be detached, or what a runtime answers. */
static HRESULT check_request(struct guest_instance *g)
{
    uint32_t low, high;
    if (atomic_load(&g->state) == SXS_GUEST_STARTING)
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    if (g->version < 3)
        return CORPROF_E_CALLBACK3_REQUIRED;
    pthread_mutex_lock(&g->mask_lock);
    low = g->low;
    high = g->high;
    pthread_mutex_unlock(&g->mask_lock);
    if ((low & sxs_runtime_immutable(g->rt)) || (high & (uint32_t)COR_PRF_HIGH_MONITOR_IMMUTABLE))
        return CORPROF_E_IMMUTABLE_FLAGS_SET;
    if (atomic_load(&g->cannot_detach))
        return CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT;
    return S_OK;
}

/* A runtime answers GetEventMask with 0 from the accepted request on. */
static void clear_mask(struct guest_instance *g)
{
    pthread_mutex_lock(&g->mask_lock);
    g->low = 0;
    g->high = 0;
    pthread_mutex_unlock(&g->mask_lock);
}

HRESULT guest_info_RequestProfilerDetach(ICorProfilerInfo15 *self,
                                         DWORD               dwExpectedCompletionMilliseconds)
{
    struct guest_instance *g = guest_of_info(self);
    ICorProfilerInfo15    *info;
    HRESULT                hr = guest_info_begin(g, SXS_INFO_SLOT_RequestProfilerDetach, &info);
    (void)dwExpectedCompletionMilliseconds; /* the thread waits without using time */
    if (SUCCEEDED(hr))
        hr = check_request(g);
    if (FAILED(hr))
        return hr;
    if (atomic_exchange(&g->detaching, 1))
        return guest_info_end(g, CORPROF_E_PROFILER_DETACHING);
    atomic_fetch_add(&g->refs, 1);
    hr = hand_over(g);
    if (FAILED(hr)) {
        atomic_store(&g->detaching, 0);
        guest_info_unref(g);
    } else {
        clear_mask(g);
    }
    return guest_info_end(g, hr);
}
