/* SPDX-License-Identifier: MIT */
#include "manager/manager.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/session_state.h"
#include "manager/module.h"
#include "manager/runtime_internal.h"
#include "manager/sessions_internal.h"
#include "manager/settings.h"
#include "runtime_facts/version.h"
#include "session/write/log_write.h"
#include "session/write/session_write.h"
#include "signals/signals.h"

static struct {
    pthread_mutex_t     lock;       /* guards everything below */
    int                 ready;      /* 1 once sxs_manager_init() has run */
    struct sxs_settings settings;   /* read-only once ready */
    _Atomic unsigned    n_admitted; /* the highest number of a runtime so far */
    /* Runtimes that run, and from which the library was detached: they get their numbers again. */
    struct detached {
        uintptr_t base; /* address of the module; 0: the entry is free */
        unsigned  number;
    } detached[SXS_MAX_RUNTIMES];
    unsigned            first; /* pick-first: number of the runtime that was first; 0: none yet */
    size_t              n_live;
    struct sxs_runtime *live[SXS_MAX_RUNTIMES]; /* initialized, not ended; one reference each */
    unsigned            generation;             /* sxs_fork_generation() when ready was set */
} manager = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(manager.lock);

/* Empty the list in a forked child: the list may be half changed, and its runtimes belong to the
 * parent. They are never freed in the child. */
static void child_goes_on(void)
{
    manager.n_live = 0;
}

void sxs_manager_init(const struct sxs_tool *const *tools, size_t n_tools)
{
    pthread_mutex_lock(&manager.lock);
    if (!manager.ready) {
        static struct sxs_fork_part part = {.child = child_goes_on};
        const struct sxs_signals *signals;
        struct sxs_census        *census;
        sxs_log_file_keep();
        sxs_log_init();
        sxs_mask_init();
        sxs_settings_read(&manager.settings, tools, n_tools);
        if (sxs_session_state_save() != 0)
            sxs_error("no memory: a later session may fail");
        census = sxs_session_open(manager.settings.out);
        signals = sxs_signals();
        census->preloaded = (uint16_t)signals->preloaded;
        census->signals_off = (uint16_t)signals->off;
        signals->count_unwanted_into(&census->signals_unwanted);
        sxs_sessions_init(&manager.settings, tools, n_tools);
        sxs_fork_register(&part);
        manager.generation = sxs_fork_generation();
        manager.ready = 1;
    }
    pthread_mutex_unlock(&manager.lock);
}

SXS_SIGSAFE unsigned sxs_manager_n_admitted(void)
{
    return atomic_load_explicit(&manager.n_admitted, memory_order_relaxed);
}

/* ---- admission ------------------------------------------------------------------------------- */

/* Set the runtime's state and write its row of the census. */
static void settle_runtime(struct sxs_runtime *rt, enum sxs_state state)
{
    rt->state = state;
    snprintf(rt->row->version, sizeof(rt->row->version), "%s", rt->version);
    snprintf(rt->row->path, sizeof(rt->row->path), "%s", rt->path);
    atomic_store_explicit(&rt->row->state, state, memory_order_release);
}

/* Log one line if another runtime hides signal handlers of @rt. */
static void say_unprotected(const struct sxs_runtime *rt)
{
    static const char *const names[] = {"SIGSEGV", "SIGFPE",  "SIGILL",  "SIGBUS",
                                        "SIGTRAP", "SIGABRT", "SIGRTMIN"};
    char text[160] = "";
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (rt->hidden >> i & 1)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", names[i]);
    if (text[0])
        sxs_warn(
            "runtime %u (%s): another runtime hides its handlers of%s; to protect it start the "
            "program with sxsprof",
            rt->number, rt->path, text);
}

static void adopt_signals(struct sxs_runtime *rt, uintptr_t caller)
{
    const struct sxs_signals *signals = sxs_signals();
    struct sxs_adoption       got = {0};
    rt->owner = signals->adopt(caller, &got);
    if (rt->owner < 0)
        return;
    if (signals->size > offsetof(struct sxs_signals, guard))
        sxs_guarded_rely(signals->guard(sxs_guarded_code()) == 1);
    signals->count_into(rt->owner, &rt->row->signals);
    rt->hidden = got.hidden;
}

/* Return 1 in a forked child of the process that called sxs_manager_init(): the session, and the
 * threads and files of the tools, belong to the parent. */
static int is_in_child(void)
{
    return manager.generation != sxs_fork_generation();
}

/* Decide which runtime is first, under manager.lock because several may arrive at once. Returns 1
 * when @rt is not first and the settings cancel such runtimes. */
static int turned_away(const struct sxs_runtime *rt)
{
    int away = 0;
    if (is_in_child())
        return 0;
    pthread_mutex_lock(&manager.lock);
    if (manager.settings.pick == SXS_PICK_FIRST) {
        if (!manager.first)
            manager.first = rt->number;
        else
            away = manager.settings.cancel;
    }
    pthread_mutex_unlock(&manager.lock);
    return away;
}

/* A runtime that was detached is the same runtime when the library is attached to it again. */
static unsigned take_number(uintptr_t base)
{
    unsigned number = 0;
    pthread_mutex_lock(&manager.lock);
    for (size_t i = 0; i < ARRAY_LEN(manager.detached) && !number && base; i++) {
        if (manager.detached[i].base == base) {
            number = manager.detached[i].number;
            manager.detached[i] = (struct detached){0};
        }
    }
    if (!number)
        number = ++manager.n_admitted;
    pthread_mutex_unlock(&manager.lock);
    return number;
}

HRESULT sxs_manager_admit(uintptr_t caller, struct sxs_runtime **out)
{
    struct sxs_runtime *rt = sxs_runtime_new();
    if (!rt)
        return E_OUTOFMEMORY;
    rt->number = take_number(sxs_module_base(caller));
    rt->row = sxs_session_row(rt->number);
    rt->row->started_ns = sxs_now_ns(CLOCK_REALTIME);
    atomic_store(&rt->row->ended_ns, 0); /* of an earlier attach to the same runtime */
    rt->base = sxs_module_base(caller);
    sxs_module_path(caller, rt->path, sizeof(rt->path));
    sxs_version_in_path(rt->path, rt->version, sizeof(rt->version)); /* Info is not available yet */
    adopt_signals(rt, caller);
    if (turned_away(rt)) {
        say_unprotected(rt);
        settle_runtime(rt, SXS_STATE_CANCELLED);
        sxs_note("runtime %u (%s) is turned away: another came first", rt->number, rt->path);
        sxs_runtime_unref(rt);
        return E_FAIL;
    }
    *out = rt;
    return S_OK;
}

/* ---- initialization -------------------------------------------------------------------------- */

/* Decide by the settings whether @rt is picked, guarded or cancelled. */
static enum sxs_state decide_state(const struct sxs_runtime *rt)
{
    const struct sxs_settings *s = &manager.settings;
    int                        picked = 1;
    if (is_in_child())
        return SXS_STATE_GUARDED;
    pthread_mutex_lock(&manager.lock);
    if (s->pick == SXS_PICK_FIRST) {
        if (!manager.first) /* the runtime that was first has failed in the meantime */
            manager.first = rt->number;
        picked = manager.first == rt->number;
    }
    pthread_mutex_unlock(&manager.lock);
    if (s->pick == SXS_PICK_ONE)
        picked = sxs_settings_names(s->pick_what, rt->version, rt->path);
    if (picked)
        return SXS_STATE_PICKED;
    return s->cancel ? SXS_STATE_CANCELLED : SXS_STATE_GUARDED;
}

/* A runtime that finds no place is profiled, but functions that go through all runtimes leave it out. */
static void list_runtime(struct sxs_runtime *rt)
{
    int listed;
    pthread_mutex_lock(&manager.lock);
    listed = manager.n_live < SXS_MAX_RUNTIMES;
    if (listed)
        manager.live[manager.n_live++] = sxs_runtime_ref(rt);
    pthread_mutex_unlock(&manager.lock);
    if (!listed)
        sxs_warn("runtime %u (%s): %u runtimes live already: sessions that begin later, names of "
                 "code that samples meet, and forced collections leave it out",
                 rt->number, rt->version, SXS_MAX_RUNTIMES);
}

HRESULT sxs_manager_initialize(struct sxs_runtime *rt, IUnknown *info, int attach)
{
    HRESULT     hr = sxs_runtime_connect(rt, info);
    int         has_turn;
    /* Only now it is known whether this is an attach, whose log goes elsewhere. */
    say_unprotected(rt);
    if (FAILED(hr))
        goto failed;
    rt->attached = attach;
    rt->state = rt->admitted_as = decide_state(rt);
    if (rt->state == SXS_STATE_CANCELLED) {
        hr = CORPROF_E_PROFILER_CANCEL_ACTIVATION;
        sxs_note("runtime %u (%s) is cancelled: not the one picked", rt->number, rt->version);
        goto failed;
    }
    if (rt->owner >= 0 && !attach) { /* the runtime calls Initialize on a thread of its own */
        sxs_signals()->announces(rt->owner); /* not after attach: earlier threads were missed */
        sxs_signals()->own_thread(rt->owner, 1);
    }
    has_turn = sxs_sessions_enter();
    sxs_sessions_subscribe(rt);
    settle_runtime(rt, rt->state);
    atomic_store(&rt->running, 1);
    list_runtime(rt);
    sxs_sessions_leave(has_turn);
    if (is_in_child())
        sxs_note(
            "runtime %u (%s) started in a forked child: its signals are routed, it is not profiled",
            rt->number, rt->version);
    return S_OK;
failed:
    if (hr != CORPROF_E_PROFILER_CANCEL_ACTIVATION)
        sxs_error("runtime %u (%s) runs unprofiled: its Info could not be used (%s 0x%08x)",
                  rt->number, rt->path, sxs_hresult_name(hr), (unsigned)hr);
    settle_runtime(rt, SXS_STATE_CANCELLED);
    sxs_manager_ended(rt, 0);
    return hr;
}

void sxs_manager_ended(struct sxs_runtime *rt, int detached)
{
    struct sxs_runtime *listed = NULL;
    int                 has_turn;
    if (sxs_runtime_is_inherited(
            rt)) /* for example exit() in a forked child: the runtime belongs to the parent */
        return;
    pthread_mutex_lock(&manager.lock);
    if (manager.first == rt->number && rt->state != SXS_STATE_PICKED)
        manager.first = 0; /* rt was never profiled, so the next runtime may be first */
    for (size_t i = 0; i < manager.n_live; i++) {
        if (manager.live[i] == rt) {
            listed = rt;
            memmove(&manager.live[i], &manager.live[i + 1],
                    (--manager.n_live - i) * sizeof(manager.live[0]));
            break;
        }
    }
    pthread_mutex_unlock(&manager.lock);
    has_turn = sxs_sessions_enter();
    sxs_runtime_end(rt, detached);
    sxs_sessions_leave(has_turn);
    sxs_runtime_unref(listed);
}

void sxs_manager_shut_down(struct sxs_runtime *rt)
{
    const struct sxs_signals *signals = sxs_signals();
    sxs_manager_ended(rt, 0);
    if (signals->size > offsetof(struct sxs_signals, ended) && !sxs_runtime_is_inherited(rt))
        signals->ended(rt->owner);
}

void sxs_manager_detached(struct sxs_runtime *rt)
{
    pthread_mutex_lock(&manager.lock);
    for (size_t i = 0; i < ARRAY_LEN(manager.detached) && rt->base; i++) {
        if (!manager.detached[i].base) {
            manager.detached[i] = (struct detached){rt->base, rt->number};
            break;
        }
    }
    pthread_mutex_unlock(&manager.lock);
    sxs_manager_ended(rt, 1);
}

uint64_t sxs_manager_find_detached(void)
{
    uint64_t out = 0;
    pthread_mutex_lock(&manager.lock);
    for (size_t i = 0; i < ARRAY_LEN(manager.detached); i++)
        if (manager.detached[i].base && manager.detached[i].number <= SXS_MAX_RUNTIMES)
            out |= UINT64_C(1) << (manager.detached[i].number - 1);
    pthread_mutex_unlock(&manager.lock);
    return out;
}

size_t sxs_runtimes_live(struct sxs_runtime **out, size_t cap)
{
    size_t n = 0;
    pthread_mutex_lock(&manager.lock);
    for (size_t i = 0; i < manager.n_live && n < cap; i++)
        if (sxs_runtime_is_live(manager.live[i]))
            out[n++] = sxs_runtime_ref(manager.live[i]);
    pthread_mutex_unlock(&manager.lock);
    return n;
}
