/* SPDX-License-Identifier: MIT */
/* tools/locks/tool.c - the tool "locks" on each runtime. */
#include "tools/locks/tool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "manager/own_sessions.h"
#include "sampling/cost.h"
#include "sampling/recorder.h"
#include "sxs_info.h"
#include "tools/locks/decode.h"
#include "tools/locks/pool.h"
#include "tools/locks/types.h"
#include "tools/locks/waits.h"
#include "tools/options/locks_options.h"

#define ROUND_NS 50000000 /* how often open waits are written down */

static struct {
    pthread_mutex_t          lock;    /* guards `started`; files are opened while it is held */
    int                      started; /* 0: not yet; 1: yes; -1: that failed */
    struct sxs_locks_options options;
    struct sxs_worker        worker;
} locks = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(locks.lock);
SXS_SESSION_RESETS(locks);

/** The state of one runtime. */
struct locks_on_runtime {
    EVENTPIPE_SESSION waits, pool; /* 0: none */
};

static void serve_locks(void)
{
    while (sxs_recorder_is_on() && !sxs_worker_pause(&locks.worker, ROUND_NS)) {
        sxs_lock_types_name();
        sxs_waits_update();
    }
}

static int start_once(const char *text)
{
    static const struct sxs_thread service = {"sxsprof locks", serve_locks};
    char                           why[SXS_TOOL_WHY];
    int                            err;
    if (sxs_locks_parse(text, &locks.options, why, sizeof(why)) != 0) {
        sxs_error("tool locks: %s", why);
        return -1;
    }
    sxs_waits_init(locks.options.owners);
    sxs_recorder_costs_on(SXS_COST_LOCK, 1, 0);
    if (locks.options.owners && sxs_recorder_cost_by_prepare() != 0)
        sxs_warn(
            "tool locks: no signal is left to ask threads for their stacks: owners of locks are "
            "recorded without");
    else if (locks.options.owners)
        sxs_recorder_costs_on(SXS_COST_LOCK_OWNER, 1, 0);
    err = sxs_worker_start(&locks.worker, &service);
    if (err) {
        sxs_error("tool locks cannot start: %s", strerror(err));
        return -1;
    }
    return 1;
}

static int start_locks(const char *text)
{
    int ok;
    pthread_mutex_lock(&locks.lock);
    if (!locks.started)
        locks.started = start_once(text);
    ok = locks.started == 1;
    pthread_mutex_unlock(&locks.lock);
    return ok;
}

static COR_PRF_EVENTPIPE_PROVIDER_CONFIG session_config(void)
{
    return (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){
        .providerName = sxs_runtime_provider,
        .keywords = SXS_LOCKS_KEYWORD | (locks.options.pool ? SXS_POOL_KEYWORD : 0),
        .loggingLevel = SXS_LOCKS_LEVEL};
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config;
    struct locks_on_runtime          *on;
    HRESULT                           hr;
    if (!sxs_runtime_has(sub->rt, SXS_INFO_EVENT_PIPE)) {
        sxs_warn("tool locks is off for runtime %u (%s), which reports no waits to profilers",
                 sxs_runtime_number(sub->rt), sxs_runtime_version(sub->rt));
        return S_FALSE;
    }
    if (!start_locks(text))
        return E_FAIL;
    on = calloc(1, sizeof(*on));
    if (!on)
        return E_OUTOFMEMORY;
    sub->state = on;
    config = session_config();
    hr = sxs_own_session_start(sub->rt, &config, &on->waits);
    if (FAILED(hr))
        return hr;
    if (locks.options.pool && FAILED(hr = sxs_pool_start(sub->rt, &on->pool)))
        sxs_warn("tool locks: runtime %u does not report the length of its thread pool's queue "
                 "(0x%08x)",
                 sxs_runtime_number(sub->rt), (unsigned)hr);
    sxs_lock_types_start(sub->rt);
    sub->high = COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    sub->low = COR_PRF_MONITOR_ASSEMBLY_LOADS;
    return S_OK;
}

/* The thread may be in cooperative mode, and the runtime may hold its locks: no lock is taken, and
 * no call made. */
static HRESULT event_delivered(struct sxs_sub *sub, EVENTPIPE_PROVIDER provider, DWORD id,
                               DWORD version, ULONG metadata_size, LPCBYTE metadata, ULONG size,
                               LPCBYTE data, LPCGUID activity, LPCGUID related, sxs_thread thread,
                               ULONG n_frames, UINT_PTR *frames)
{
    struct sxs_contention what;
    struct sxs_pool_event pool;
    uint64_t              ns;
    (void)metadata_size, (void)metadata, (void)activity, (void)related, (void)thread;
    (void)n_frames, (void)frames;
    if (sxs_contention_start(id, version, data, size, &what)) {
        if (sxs_runtime_provider_is(sub->rt, provider))
            sxs_wait_begin(sub->rt, &what, data);
    } else if (sxs_contention_stop(id, version, data, size, &ns)) {
        if (sxs_runtime_provider_is(sub->rt, provider))
            sxs_wait_end(sub->rt, ns);
    } else if (locks.options.pool && sxs_pool_event_decode(id, version, data, size, &pool)) {
        if (sxs_runtime_provider_is(sub->rt, provider))
            sxs_pool_record(sub->rt, &pool);
    } else if (locks.options.pool && sxs_pool_queue_decode(data, size, &pool)) {
        sxs_pool_record(sub->rt, &pool); /* its text names the counter */
    }
    return S_OK;
}

static HRESULT assembly_unloading(struct sxs_sub *sub, sxs_assembly assembly)
{
    (void)assembly;
    sxs_lock_types_unload(sub->rt);
    return S_OK;
}

/* Stops the sessions that are open. */
static void stop_sessions(struct sxs_sub *sub)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config();
    struct locks_on_runtime          *on = sub->state;
    sxs_own_session_end(sub->rt, &config, &on->waits);
    sxs_pool_end(sub->rt, &on->pool);
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    if (how == SXS_STOP_SESSION)
        stop_sessions(sub);
    sxs_waits_update();
    sxs_lock_types_stop(sub->rt, 1);
}

static void release_runtime(struct sxs_sub *sub)
{
    /* If the runtime refused the tool, stop_tool() was not called. */
    if (sub->state)
        stop_sessions(sub);
    sxs_lock_types_stop(sub->rt, 0);
    free(sub->state);
    sub->state = NULL;
}

static void end_session(void)
{
    sxs_worker_end(&locks.worker);
    sxs_lock_types_end();
}

static const struct sxs_events events = {
    .AssemblyUnloadStarted = assembly_unloading,
    .EventPipeEventDelivered = event_delivered,
};

const struct sxs_tool sxs_locks_tool = {.name = "locks",
                                        .needs = "recorder",
                                        .on = &events,
                                        .start = start_tool,
                                        .stop = stop_tool,
                                        .release = release_runtime,
                                        .end_session = end_session,
                                        .restarts = 1};
