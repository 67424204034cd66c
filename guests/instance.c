/* SPDX-License-Identifier: MIT */
/* instance.c - the life of one guest on one runtime: made in Initialize, ended at Shutdown. */
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "guests/call.h"
#include "guests/elt.h"
#include "guests/eventpipe.h"
#include "guests/guest.h"
#include "guests/hook.h"
#include "guests/thread_state.h"
#include "manager/manager.h"
#include "manager/settings.h"
#include "rejit/rejit.h"
#include "session/write/guests_write.h"

#define END_WAIT_MS 1000u /* how long the end of a runtime waits for threads inside a guest */

static _Atomic unsigned n_instances;

/* ---- references ------------------------------------------------------------------------------- */

void guest_disconnect(struct guest_instance *g)
{
    ICorProfilerInfo15 *real = __atomic_exchange_n(&g->real, NULL, __ATOMIC_ACQ_REL);
    if (!real)
        return;
    real->vtbl->Release(real);
    sxs_runtime_unref(g->rt);
}

unsigned guest_info_unref(struct guest_instance *g)
{
    unsigned left = atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) - 1;
    if (left == 0) {
        guest_disconnect(g);
        pthread_mutex_destroy(&g->mask_lock);
        free(g);
    }
    return left;
}

/* ---- start ------------------------------------------------------------------------------------ */

/* Returns 1 when the guest is meant for this runtime. */
static int is_for(const struct guest *guest, const struct sxs_runtime *rt)
{
    switch (guest->declared.pick) {
    case GUEST_PICK_FIRST: return guest->n_active == 0;
    case GUEST_PICK_ONE:
        return sxs_settings_names(guest->declared.pick_what, rt->version, rt->path);
    default: return 1;
    }
}

static struct sxs_guest_row *make_row(const struct guest *guest, const struct sxs_runtime *rt)
{
    struct sxs_guest_row *row = sxs_guests_row();
    row->runtime = sxs_runtime_number(rt);
    row->priority = guest->declared.priority;
    row->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    snprintf(row->clsid, sizeof(row->clsid), "%s", guest->declared.clsid_text);
    snprintf(row->path, sizeof(row->path), "%s", guest->declared.path);
    atomic_store_explicit(&row->state, SXS_GUEST_STARTING, memory_order_release);
    return row;
}

/* Makes an instance without a callback object. Returns NULL without memory, or when there are too
 * many. */
static struct guest_instance *make_instance(struct guest *guest, struct sxs_sub *sub)
{
    struct guest_instance *g = calloc(1, sizeof(*g));
    unsigned               number = atomic_fetch_add(&n_instances, 1);
    if (!g || number >= GUEST_MAX_INSTANCES) {
        free(g);
        return NULL;
    }
    g->info.vtbl = guest_info_table;
    atomic_init(&g->refs, 1);
    atomic_init(&g->state, SXS_GUEST_STARTING);
    g->guest = guest;
    g->sub = sub;
    g->rt = sxs_runtime_ref(sub->rt);
    g->real = atomic_load(&sub->rt->info);
    g->real->vtbl->AddRef(g->real);
    g->real_slots = sub->rt->info_slots;
    g->real_version = sub->rt->info_version;
    g->number = number;
    pthread_mutex_init(&g->mask_lock, NULL);
    return g;
}

/* Calls the guest's Initialize. */
static HRESULT initialize(struct guest_instance *g, int attached)
{
    struct guest_call call;
    HRESULT           hr = E_OUTOFMEMORY;
    g->initializing = 1;
    if (guest_call_begin(g, &call)) {
        int data = !g->guest->hook_of; /* CLRIE gives a raw profiler hook none */
        hr = attached ? g->callback->vtbl->InitializeForAttach(
                            g->callback, (IUnknown *)&g->info,
                            data ? (void *)(uintptr_t)g->rt->attach_data : NULL,
                            data ? g->rt->attach_size : 0)
                      : g->callback->vtbl->Initialize(g->callback, (IUnknown *)&g->info);
        guest_call_end(&call, hr);
    }
    g->initializing = 0;
    return hr;
}

/* Stores in the session, and returns, why the guest is off for this runtime. */
static HRESULT stays_off(struct guest *guest, struct sxs_guest_row *row, HRESULT hr,
                         const char *why)
{
    int serves;
    pthread_mutex_lock(&guest->lock);
    serves = guest->n_active > 0;
    if (!serves && guest->n_failed < ARRAY_LEN(guest->failed))
        guest->failed[guest->n_failed++] = row;
    atomic_store(&row->state, serves ? SXS_GUEST_REFUSED : SXS_GUEST_FAILED);
    pthread_mutex_unlock(&guest->lock);
    snprintf(row->why, sizeof(row->why), "%s", why);
    atomic_store(&row->result, (uint32_t)hr);
    atomic_store(&row->start_took_ns, sxs_now_ns(CLOCK_MONOTONIC) - row->started_ns);
    sxs_error("%s is off for runtime %u: %s%s", guest->title, row->runtime, why,
              serves ? "; it goes on with the runtimes that it has" : "");
    return S_FALSE;
}

/* Asks an object of the newest interface whether it wants notifications only, as a runtime does
 * before Initialize. */
static void ask_notification_only(struct guest_instance *g)
{
    BOOL              only = 0;
    struct guest_call call;
    HRESULT           hr;
    if (g->version < 11 || !guest_call_begin(g, &call))
        return;
    hr = g->callback->vtbl->LoadAsNotificationOnly(g->callback, &only);
    guest_call_end(&call, hr);
    g->notification_only = SUCCEEDED(hr) && only;
}

HRESULT guest_start(struct sxs_sub *sub, const char *options)
{
    struct guest           *guest = container_of(sub->tool, struct guest, tool);
    int                     attached = sxs_runtime_is_attached(sub->rt);
    ICorProfilerCallback11 *callback = NULL;
    struct guest_instance  *g;
    struct sxs_guest_row   *row;
    unsigned                version = 0;
    const char             *why;
    char                    text[400];
    HRESULT                 hr;
    (void)options;
    if (!is_for(guest, sub->rt))
        return S_FALSE;
    if (guest->hook_of && !(callback = guest_hook_find(guest, sub->rt, &version)))
        return S_FALSE;
    row = make_row(guest, sub->rt);
    hr = callback ? S_OK : guest_create(guest, &callback, &version, text, sizeof(text));
    if (FAILED(hr))
        return stays_off(guest, row, hr, text);
    row->callback_version = version;
    why = guest_is_permitted(sub->rt, version, attached);
    g = why ? NULL : make_instance(guest, sub);
    if (!g) {
        callback->vtbl->Release(callback);
        return stays_off(guest, row, E_FAIL, why ? why : "out of memory");
    }
    g->row = row;
    g->callback = callback;
    g->version = version;
    sub->state = g;
    sub->on = &guest_events[version];
    ask_notification_only(g);
    hr = initialize(g, attached);
    if (FAILED(hr)) {
        snprintf(text, sizeof(text), "its %s failed (%s 0x%08x)",
                 attached ? "InitializeForAttach" : "Initialize", sxs_hresult_name(hr),
                 (unsigned)hr);
        guest_end(g, guest->n_active ? SXS_GUEST_REFUSED : SXS_GUEST_FAILED, END_WAIT_MS);
        guest_elt_forget(g);
        guest_eventpipe_end(g);
        guest_let_go(g);
        guest_disconnect(g);
        atomic_store_explicit(&g->is_released, 1, memory_order_release);
        guest_info_unref(g);
        sub->state = NULL;
        return stays_off(guest, row, hr, text);
    }
    sub->low = g->low;
    sub->high = g->high;
    guest_elt_join(g); /* without memory, only a mapper that is set later is lost */
    pthread_mutex_lock(&guest->lock);
    guest->n_active++;
    while (guest->n_failed >
           0) /* runtimes that start at the same time fail before this one is active */
        atomic_store(&guest->failed[--guest->n_failed]->state, SXS_GUEST_REFUSED);
    pthread_mutex_unlock(&guest->lock);
    atomic_store(&row->result, (uint32_t)hr);
    atomic_store(&row->start_took_ns, sxs_now_ns(CLOCK_MONOTONIC) - row->started_ns);
    atomic_store(&g->state, SXS_GUEST_ACTIVE);
    atomic_store(&row->state, SXS_GUEST_ACTIVE);
    if (guest->hook_of)
        guest_hook_started(g);
    return S_OK;
}

/* ---- end -------------------------------------------------------------------------------------- */

/* Makes every thread of the process pass a memory barrier, so that each sees the instance's new
 * state, or is seen inside. Without the system call the wait is long enough for any processor to
 * write back what it has stored. */
static void let_threads_see(void)
{
    static _Atomic int registered;
    if (!atomic_load(&registered)) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
        atomic_store(&registered, 1);
    }
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        usleep(10000);
}

int guest_end(struct guest_instance *g, enum sxs_guest_state state, unsigned wait_ms)
{
    unsigned inside = 1;
    atomic_store(&g->state, (int)state);
    atomic_store(&g->row->state, (uint32_t)state);
    guest_elt_end(g);
    let_threads_see();
    for (unsigned ms = 0; (inside = guest_threads_inside(g, 0)) != 0 && ms < wait_ms; ms++)
        usleep(1000);
    guest_threads_sum(g);
    return inside == 0;
}

void guest_let_go(struct guest_instance *g)
{
    ICorProfilerCallback11 *callback = g->callback;
    g->callback = NULL;
    if (callback)
        callback->vtbl->Release(callback);
}

int guest_claim_end(struct guest_instance *g)
{
    return !atomic_exchange(&g->ending, 1);
}

void guest_stop(struct sxs_sub *sub, int detached)
{
    struct guest_instance *g = sub->state;
    struct guest_call      call;
    if (!g || atomic_load(&g->state) != SXS_GUEST_ACTIVE || !guest_claim_end(g))
        return;
    if (guest_call_begin(g, &call)) {
        HRESULT hr = S_OK;
        if (!detached)
            hr = g->callback->vtbl->Shutdown(g->callback);
        else if (g->version >= 3)
            hr = g->callback->vtbl->ProfilerDetachSucceeded(g->callback);
        guest_call_end(&call, hr);
    }
    sxs_rejit_leave(sub);
    if (!detached)
        guest_eventpipe_end(g);
    guest_end(g, SXS_GUEST_ENDED, detached ? END_WAIT_MS : 0);
    guest_disconnect(g);
}

/* The runtime has released this library's callback object, so it would release the guest's now. At
 * Shutdown it does not: hooks in compiled code, and threads of the guest, may still use the object.
 */
void guest_release(struct sxs_sub *sub)
{
    struct guest_instance *g = sub->state;
    if (!g)
        return;
    if (guest_threads_inside(g, 0) == 0)
        guest_let_go(g);
    atomic_store_explicit(&g->is_released, 1, memory_order_release);
    guest_info_unref(g);
}
