/* SPDX-License-Identifier: MIT */
/* runtime.c - one runtime: its references, its Info, its version, its suspension and its end. */
#include "manager/runtime_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "manager/module.h"
#include "runtime_facts/version.h"

/* All runtimes that have not been freed. */
static struct {
    pthread_mutex_t     lock; /* a leaf lock */
    struct sxs_runtime *first;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(known.lock);

static _Atomic int is_newer_said; /* 1: a runtime was newer than the table of runtime facts */
SXS_SESSION_KEEPS(is_newer_said);

struct sxs_runtime *sxs_runtime_new(void)
{
    struct sxs_runtime *rt = calloc(1, sizeof(*rt));
    if (!rt)
        return NULL;
    atomic_init(&rt->refs, 1);
    rt->owner = -1;
    rt->generation = sxs_fork_generation();
    pthread_mutex_init(&rt->mask_lock, NULL);
    pthread_mutex_lock(&known.lock);
    rt->next = known.first;
    known.first = rt;
    pthread_mutex_unlock(&known.lock);
    return rt;
}

static void forget_runtime(const struct sxs_runtime *rt)
{
    pthread_mutex_lock(&known.lock);
    for (struct sxs_runtime **at = &known.first; *at; at = &(*at)->next) {
        if (*at == rt) {
            *at = rt->next;
            break;
        }
    }
    pthread_mutex_unlock(&known.lock);
}

/* Add a reference unless the last one has been dropped. */
static int try_ref(struct sxs_runtime *rt)
{
    unsigned n = atomic_load(&rt->refs);
    while (n && !atomic_compare_exchange_weak(&rt->refs, &n, n + 1))
        continue;
    return n != 0;
}

size_t sxs_runtimes_known(struct sxs_runtime **out, size_t cap, size_t *n_dying)
{
    size_t n = 0;
    *n_dying = 0;
    pthread_mutex_lock(&known.lock);
    for (struct sxs_runtime *rt = known.first; rt && n < cap; rt = rt->next) {
        if (sxs_runtime_is_inherited(rt))
            continue;
        if (try_ref(rt))
            out[n++] = rt;
        else
            ++*n_dying;
    }
    pthread_mutex_unlock(&known.lock);
    return n;
}

SXS_SIGSAFE unsigned sxs_runtime_number(const struct sxs_runtime *rt)
{
    return rt->number;
}

const char *sxs_runtime_version(const struct sxs_runtime *rt)
{
    return rt->version;
}

const char *sxs_runtime_path(const struct sxs_runtime *rt)
{
    return rt->path;
}

int sxs_runtime_is_picked(const struct sxs_runtime *rt)
{
    return rt->state == SXS_STATE_PICKED;
}

SXS_SIGSAFE int sxs_runtime_is_live(const struct sxs_runtime *rt)
{
    int phase = atomic_load_explicit(&rt->phase, memory_order_acquire);
    if (sxs_runtime_is_inherited(rt))
        return 0;
    return phase == SXS_PHASE_LIVE || phase == SXS_PHASE_ENDING;
}

SXS_SIGSAFE struct sxs_census_runtime *sxs_runtime_row(const struct sxs_runtime *rt)
{
    return rt->row;
}

const struct sxs_runtime_facts *sxs_runtime_facts(const struct sxs_runtime *rt)
{
    return rt->facts ? rt->facts : sxs_facts_of(rt->version);
}

int sxs_runtime_has(const struct sxs_runtime *rt, enum sxs_info_since since)
{
    return rt->info_version >= since;
}

int sxs_runtime_is_leaving(const struct sxs_runtime *rt)
{
    return atomic_load(&rt->leaving);
}

int sxs_runtime_is_attached(const struct sxs_runtime *rt)
{
    return rt->attached;
}

int sxs_runtime_is_running(const struct sxs_runtime *rt)
{
    return atomic_load(&rt->running);
}

int sxs_runtime_is_late(const struct sxs_runtime *rt)
{
    return rt->attached || sxs_runtime_is_running(rt);
}

void sxs_runtime_set_attach_data(struct sxs_runtime *rt, const void *data, unsigned size)
{
    rt->attach_data = data;
    rt->attach_size = data ? size : 0;
}

int sxs_runtime_signal_owner(const struct sxs_runtime *rt)
{
    return rt->owner;
}

/* ---- references ------------------------------------------------------------------------------ */

struct sxs_runtime *sxs_runtime_ref(struct sxs_runtime *rt)
{
    atomic_fetch_add_explicit(&rt->refs, 1, memory_order_relaxed);
    return rt;
}

/* Release the Info, once. */
static void let_info_go(struct sxs_runtime *rt)
{
    ICorProfilerInfo15 *info = atomic_exchange(&rt->info, NULL);
    if (info)
        info->vtbl->Release(info);
}

void sxs_runtime_unref(struct sxs_runtime *rt)
{
    if (!rt || atomic_fetch_sub_explicit(&rt->refs, 1, memory_order_acq_rel) != 1)
        return;
    sxs_runtime_release(rt, UINT64_MAX);
    let_info_go(rt);
    forget_runtime(rt);
    pthread_mutex_destroy(&rt->mask_lock);
    free(rt);
}

/* ---- Info ------------------------------------------------------------------------------------ */

HRESULT sxs_runtime_info(struct sxs_runtime *rt, unsigned slot, ICorProfilerInfo15 **out)
{
    *out = NULL;
    if (sxs_runtime_is_inherited(rt))
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    if (slot >= rt->info_slots)
        return rt->info_slots ? E_NOTIMPL : CORPROF_E_RUNTIME_UNINITIALIZED;
    /* Count first, then read the phase; sxs_runtime_end() sets the phase first, then reads the
     * count. So at least one of the two sees the other. */
    atomic_fetch_add(&rt->info_users, 1);
    if (sxs_runtime_is_live(rt))
        *out = atomic_load(&rt->info);
    if (!*out) {
        sxs_runtime_info_done(rt);
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    }
    return S_OK;
}

void sxs_runtime_info_done(struct sxs_runtime *rt)
{
    if (atomic_fetch_sub(&rt->info_users, 1) == 1 && atomic_load(&rt->phase) == SXS_PHASE_ENDED)
        let_info_go(rt);
}

/* ---- suspension ------------------------------------------------------------------------------ */

HRESULT sxs_runtime_suspend(struct sxs_runtime *rt)
{
    ICorProfilerInfo15 *info = NULL;
    HRESULT             hr =
        !sxs_runtime_has(rt, SXS_INFO_SUSPEND) ? E_NOTIMPL : sxs_runtime_info(rt, 0, &info);
    if (FAILED(hr))
        return hr;
    hr = atomic_load(&rt->phase) == SXS_PHASE_LIVE ? info->vtbl->SuspendRuntime(info)
                                                   : CORPROF_E_RUNTIME_UNINITIALIZED;
    if (hr != S_OK)
        sxs_runtime_info_done(rt);
    return SUCCEEDED(hr) && hr != S_OK ? E_UNEXPECTED : hr;
}

/* The Info is still valid, because sxs_runtime_suspend() left its call counted in info_users. */
HRESULT sxs_runtime_resume(struct sxs_runtime *rt)
{
    if (sxs_runtime_is_inherited(rt))
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    ICorProfilerInfo15 *info = atomic_load(&rt->info);
    HRESULT             hr = info->vtbl->ResumeRuntime(info);
    sxs_runtime_info_done(rt);
    return hr;
}

HRESULT sxs_runtime_foreign_id(const struct sxs_runtime *rt, const struct sxs_runtime *other,
                               const char *method)
{
    sxs_error("%s of runtime %u was handed an ID of runtime %u: refused", method, rt->number,
              other ? other->number : 0);
    assert(!"an ID reached another runtime's Info");
    return E_INVALIDARG;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static HRESULT query_info(struct sxs_runtime *rt, IUnknown *unknown)
{
    for (unsigned i = 0; i < ARRAY_LEN(sxs_info_versions); i++) {
        void *info = NULL;
        if (SUCCEEDED(unknown->vtbl->QueryInterface(unknown, sxs_info_versions[i].iid, &info)) &&
            info) {
            rt->info_slots = sxs_info_versions[i].n_slots;
            rt->info_version = sxs_info_versions[i].version;
            atomic_store(&rt->info, info);
            return S_OK;
        }
    }
    return E_NOINTERFACE;
}

/* Ask the runtime for its version. A CLR without GetRuntimeInformation, which came with
 * ICorProfilerInfo3, is a 2.0 CLR. */
static void ask_version(struct sxs_runtime *rt)
{
    USHORT  major = 2, minor = 0, build = 0, qfe = 0;
    HRESULT hr = sxs_info_GetRuntimeInformation(rt, NULL, NULL, &major, &minor, &build, &qfe, 0,
                                                NULL, NULL);
    if (hr == E_NOTIMPL)
        snprintf(rt->version, sizeof(rt->version), "2.0");
    else if (SUCCEEDED(hr))
        snprintf(rt->version, sizeof(rt->version), "%u.%u.%u", major, minor, build);
    else
        sxs_note("runtime %u does not say its version (%s)", rt->number, sxs_hresult_name(hr));
    sxs_version_of_core(rt->version, sizeof(rt->version), rt->path);
}

/* Find the row of the table of runtime facts. */
static void find_facts(struct sxs_runtime *rt)
{
    rt->facts = rt->version[0] ? sxs_facts_of(rt->version) : sxs_facts_of_info(rt->info_version);
    if (!sxs_facts_know(rt->version) && !atomic_exchange(&is_newer_said, 1))
        sxs_warn("runtime %u (%s) is newer than this profiler knows: it is treated like .NET %u",
                 rt->number, rt->version, rt->facts->major);
}

HRESULT sxs_runtime_connect(struct sxs_runtime *rt, IUnknown *info_unknown)
{
    HRESULT hr = info_unknown ? query_info(rt, info_unknown) : E_INVALIDARG;
    if (FAILED(hr))
        return hr;
    atomic_store(&rt->phase, SXS_PHASE_LIVE);
    if (!rt->path[0])
        sxs_module_path((uintptr_t)info_unknown->vtbl, rt->path, sizeof(rt->path));
    ask_version(rt);
    find_facts(rt);
    return S_OK;
}

void sxs_runtime_end(struct sxs_runtime *rt, int detached)
{
    uint64_t last = 0; /* bit i: subs[i] receives events until its stop() has returned */
    int      was = SXS_PHASE_LIVE;
    if (sxs_runtime_is_inherited(rt))
        return;
    /* Info calls work until Shutdown returns; after a detach they do not. */
    if (!atomic_compare_exchange_strong(&rt->phase, &was,
                                        detached ? SXS_PHASE_ENDED : SXS_PHASE_ENDING)) {
        if (was == SXS_PHASE_CREATED)
            atomic_store(&rt->phase, SXS_PHASE_ENDED);
        return;
    }
    pthread_mutex_lock(&rt->mask_lock); /* a concurrent sxs_sub_set_mask() could set wants again */
    for (unsigned i = 0; i < rt->n_subs && !detached; i++)
        last |= (rt->taken & UINT64_C(1) << i) && rt->subs[i].tool->events_in_stop
                    ? UINT64_C(1) << i
                    : 0;
    for (unsigned slot = 0; slot < SXS_N_CALLBACK_SLOTS; slot++)
        atomic_fetch_and_explicit(&rt->wants[slot], last, memory_order_release);
    pthread_mutex_unlock(&rt->mask_lock);
    sxs_runtime_stop(rt, UINT64_MAX, detached ? SXS_STOP_DETACHED : SXS_STOP_SHUTDOWN);
    for (unsigned slot = 0; last && slot < SXS_N_CALLBACK_SLOTS; slot++)
        atomic_store_explicit(&rt->wants[slot], 0, memory_order_release);
    atomic_store(&rt->phase, SXS_PHASE_ENDED);
    atomic_store(&rt->row->ended_ns, sxs_now_ns(CLOCK_REALTIME));
    if (atomic_load(&rt->info_users) == 0)
        let_info_go(rt);
}
