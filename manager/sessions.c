/* SPDX-License-Identifier: MIT */
/* sessions.c - sessions begin and end while the runtimes go on. The first one, which the environment
 * asks for, begins before the first runtime; its tools are started on each runtime in Initialize. */
#include "manager/sessions.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/session_state.h"
#include "manager/manager.h"
#include "manager/runtime_internal.h"
#include "manager/sessions_internal.h"
#include "session/write/guests_write.h"
#include "session/write/session_write.h"
#include "thread_names/thread_names.h"

static struct {
    /* Taken before all locks: 1: a thread begins or ends a session, or starts or ends a runtime. Not a mutex,
     * because a thread may hand its turn to another one. */
    _Atomic int                   turn;
    struct sxs_current_session    now; /* under turn */
    struct sxs_enabled_tool       guests[SXS_MAX_TOOLS];
    size_t                        n_guests;
    const struct sxs_settings    *settings; /* of the environment; constant */
    const struct sxs_tool *const *known;
    size_t                        n_known;
    unsigned                      generation; /* sxs_fork_generation() of this process */

    pthread_mutex_t          lock; /* a leaf lock; guards state */
    struct sxs_session_state state;
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sessions.lock);

/* Of sessions.now; read on threads of tools. */
static _Atomic int may_load_code;

int sxs_session_may_load_code(void)
{
    return atomic_load(&may_load_code);
}

/* Threads that have started or ended a runtime without a turn (sxs_sessions_enter()). */
static _Atomic unsigned n_out_of_turn;

int sxs_sessions_lock(uint64_t limit_ns)
{
    const struct timespec pause = {0, 500000};
    uint64_t              began = sxs_now_ns(CLOCK_MONOTONIC);
    int                   no = 0;
    while (!atomic_compare_exchange_strong(&sessions.turn, &no, 1)) {
        if (sxs_now_ns(CLOCK_MONOTONIC) - began >= limit_ns)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
        no = 0;
    }
    return 0;
}

void sxs_sessions_unlock(void)
{
    atomic_store(&sessions.turn, 0);
}

int sxs_sessions_enter(void)
{
    if (sxs_sessions_lock(sxs_session_end_limit_ns / 6) == 0)
        return 1;
    atomic_fetch_add(&n_out_of_turn, 1);
    return 0;
}

void sxs_sessions_leave(int has_turn)
{
    if (has_turn)
        sxs_sessions_unlock();
    else
        atomic_fetch_sub(&n_out_of_turn, 1);
}

void sxs_sessions_wait_for_others(void)
{
    const struct timespec pause = {0, 500000};
    while (atomic_load(&n_out_of_turn))
        nanosleep(&pause, NULL);
}

static void child_goes_on(void)
{
    atomic_store(&sessions.turn, 0);
    atomic_store(&n_out_of_turn, 0);
}

struct sxs_current_session *sxs_sessions_now(void)
{
    return &sessions.now;
}

int sxs_sessions_in_child(void)
{
    return sessions.settings && sessions.generation != sxs_fork_generation();
}

int sxs_sessions_say(char why[SXS_SESSION_WHY], int err, const char *text)
{
    snprintf(why, SXS_SESSION_WHY, "%s", text);
    return err;
}

/* ---- state ----------------------------------------------------------------------------------- */

void sxs_session_get_state(struct sxs_session_state *out)
{
    pthread_mutex_lock(&sessions.lock);
    *out = sessions.state;
    pthread_mutex_unlock(&sessions.lock);
}

void sxs_sessions_set_phase(enum sxs_session_phase phase)
{
    pthread_mutex_lock(&sessions.lock);
    sessions.state.phase = phase;
    sessions.state.waits_for[0] = '\0';
    if (phase == SXS_SESSION_NONE)
        sessions.state.tools[0] = sessions.state.out[0] = sessions.state.id[0] = '\0';
    pthread_mutex_unlock(&sessions.lock);
}

void sxs_sessions_wait_for(const char *format, ...)
{
    va_list ap;
    pthread_mutex_lock(&sessions.lock);
    va_start(ap, format);
    vsnprintf(sessions.state.waits_for, sizeof(sessions.state.waits_for), format, ap);
    va_end(ap);
    pthread_mutex_unlock(&sessions.lock);
}

enum sxs_session_phase sxs_sessions_phase(void)
{
    enum sxs_session_phase phase;
    pthread_mutex_lock(&sessions.lock);
    phase = sessions.state.phase;
    pthread_mutex_unlock(&sessions.lock);
    return phase;
}

static void note_begin(const char *tools, const char *id)
{
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    pthread_mutex_lock(&sessions.lock);
    sessions.state.phase = SXS_SESSION_ON;
    sessions.state.number++;
    sessions.state.started_ns = sxs_now_ns(CLOCK_REALTIME);
    snprintf(sessions.state.id, sizeof(sessions.state.id), "%s", id ? id : "");
    snprintf(sessions.state.tools, sizeof(sessions.state.tools), "%s", tools);
    snprintf(sessions.state.out, sizeof(sessions.state.out), "%s", folder ? folder->path : "");
    pthread_mutex_unlock(&sessions.lock);
}

/* ---- the tools of a session ------------------------------------------------------------------ */

static void take_tools(struct sxs_current_session *s, const struct sxs_settings *from)
{
    s->n_tools = 0;
    for (size_t i = 0; i < from->n_tools; i++)
        if (from->tools[i].of_session)
            s->tools[s->n_tools++] = from->tools[i];
}

/* Write the names of the tools that were named, for people. */
static void list_tools(const struct sxs_current_session *s, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->n_tools && len < size; i++) {
        const char *options = s->tools[i].options;
        len += (size_t)snprintf(out + len, size - len, "%s%s%s%s", i ? ";" : "",
                                s->tools[i].tool->name, options && *options ? ":" : "",
                                options ? options : "");
    }
}

void sxs_sessions_init(const struct sxs_settings *settings, const struct sxs_tool *const *tools,
                       size_t n_tools)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    char                        text[sizeof(sessions.state.tools)];
    sxs_fork_register(&part);
    sessions.settings = settings;
    sessions.known = tools;
    sessions.n_known = n_tools;
    sessions.generation = sxs_fork_generation();
    take_tools(&sessions.now, settings);
    atomic_store(&may_load_code, 1);
    sessions.now.pick.pick = SXS_PICK_ALL; /* the manager picks by the environment already */
    list_tools(&sessions.now, text, sizeof(text));
    sxs_thread_names_begin();
    if (sessions.now.n_tools)
        note_begin(text, "");
}

void sxs_manager_enable(const struct sxs_enabled_tool *tools, size_t n)
{
    int has_turn = sxs_sessions_enter();
    for (size_t i = 0; i < n; i++) {
        if (sessions.n_guests + sessions.settings->n_tools < SXS_MAX_TOOLS)
            sessions.guests[sessions.n_guests++] = tools[i];
        else
            sxs_error("%s is off: there can be %d tools and guests", tools[i].tool->name,
                      SXS_MAX_TOOLS);
    }
    sxs_sessions_leave(has_turn);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

/* Whether the session records @rt, of those that the settings pick. */
static int is_in_session(const struct sxs_current_session *s, const struct sxs_runtime *rt,
                         unsigned first)
{
    if (s->pick.pick == SXS_PICK_FIRST)
        return rt->number == first;
    return s->pick.pick == SXS_PICK_ALL ||
           sxs_settings_names(s->pick.pick_what, rt->version, rt->path);
}

void sxs_sessions_set_state(struct sxs_runtime *rt, enum sxs_state state)
{
    rt->state = state;
    atomic_store_explicit(&rt->row->state, state, memory_order_release);
}

HRESULT sxs_sessions_subscribe(struct sxs_runtime *rt)
{
    const struct sxs_settings *s = sessions.settings;
    struct sxs_enabled_tool    all[SXS_MAX_TOOLS];
    size_t                     n = 0;
    for (size_t i = 0; i < s->n_tools; i++)
        if (!s->tools[i].of_session)
            all[n++] = s->tools[i];
    if (sxs_sessions_phase() == SXS_SESSION_ON && is_in_session(&sessions.now, rt, 0))
        for (size_t i = 0; i < sessions.now.n_tools && n < SXS_MAX_TOOLS; i++)
            all[n++] = sessions.now.tools[i];
    for (size_t i = 0; i < sessions.n_guests && n < SXS_MAX_TOOLS; i++)
        all[n++] = sessions.guests[i];
    sxs_runtime_subscribe(rt, all, n, NULL);
    if (sxs_sessions_phase() == SXS_SESSION_ON && !is_in_session(&sessions.now, rt, 0))
        rt->state = SXS_STATE_GUARDED; /* for this session */
    return S_OK;
}

/* ---- the begin ------------------------------------------------------------------------------- */

/* Whether a tool of the session would load code; then @why says which. */
static int loads_code(const struct sxs_current_session *s, char why[SXS_SESSION_WHY])
{
    char detail[SXS_SESSION_WHY];
    for (size_t i = 0; i < s->n_tools; i++) {
        const struct sxs_tool *tool = s->tools[i].tool;
        const char            *options = s->tools[i].options;
        if (!tool->loads_code || !tool->loads_code(options ? options : "", detail, sizeof(detail)))
            continue;
        snprintf(why, SXS_SESSION_WHY,
                 "tool %s: %.300s; expected a process that was started with SXSPROF_CONTROL=code",
                 tool->name, detail);
        return 1;
    }
    return 0;
}

/* Read the request into @s and @settings. Returns 0 or -EINVAL, -ENOTSUP, -ENOMEM with @why. */
static int read_request(const struct sxs_session_request *request, struct sxs_current_session *s,
                        struct sxs_settings *settings, char why[SXS_SESSION_WHY])
{
    const struct sxs_tool *endless;
    if (!request->tools || !request->out || request->out[0] != '/')
        return sxs_sessions_say(why, -EINVAL,
                                "expected tools, and an absolute path of the session folder");
    if (sxs_settings_parse_pick(&s->pick, request->pick) != 0)
        return sxs_sessions_say(why, -EINVAL,
                                "pick: expected all, first, or one:VERSION or one:PATH");
    s->text = strdup(request->tools);
    if (!s->text)
        return sxs_sessions_say(why, -ENOMEM, "out of memory");
    if (sxs_settings_parse_tools(settings, sessions.known, sessions.n_known, s->text, why,
                                 SXS_SESSION_WHY) != 0)
        return -EINVAL;
    take_tools(s, settings);
    if (!request->may_load_code && loads_code(s, why))
        return -EPERM;
    endless = sxs_session_find_endless(s);
    if (!endless && sxs_mask_begin(request->mask) != 0)
        return sxs_sessions_say(why, -EINVAL, "mask: expected " SXS_MASK_EXPECTED);
    if (!endless)
        return 0;
    snprintf(why, SXS_SESSION_WHY, "the tool %s can only be started with the program",
             endless->name);
    return -ENOTSUP;
}

static unsigned lowest_number(const struct sxs_runtimes *list)
{
    unsigned number = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->all[i]->admitted_as == SXS_STATE_PICKED &&
            (!number || list->all[i]->number < number))
            number = list->all[i]->number;
    return number;
}

/* Returns true when the session names no tool but those that are always on: it has their counts. */
static int counts_only(const struct sxs_current_session *s)
{
    for (size_t t = 0; t < s->n_tools; t++)
        if (!s->tools[t].tool->always)
            return 0;
    return 1;
}

/* Start the session's tools on the live runtimes. Returns how many were started that another tool
 * does not only need. */
static unsigned start_all(const struct sxs_runtimes *list, const struct sxs_reasons *why)
{
    struct sxs_current_session *s = &sessions.now;
    unsigned                    first = lowest_number(list), n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_runtime *rt = list->all[i];
        uint64_t            bits;
        if (rt->admitted_as != SXS_STATE_PICKED || !is_in_session(s, rt, first)) {
            sxs_sessions_set_state(rt, SXS_STATE_GUARDED);
            continue;
        }
        sxs_runtime_subscribe(rt, s->tools, s->n_tools, why);
        bits = sxs_runtime_session_bits(rt);
        n += counts_only(s);
        for (unsigned at = 0; at < rt->n_subs; at++)
            for (size_t t = 0; t < s->n_tools && (bits >> at & 1); t++)
                n += rt->subs[at].tool == s->tools[t].tool &&
                     (t + 1 == s->n_tools || !s->tools[t + 1].tool->needs ||
                      strcmp(s->tools[t + 1].tool->needs, s->tools[t].tool->name) != 0);
    }
    return n;
}

static int begin_on(const struct sxs_runtimes *list, const struct sxs_session_request *request,
                    char why[SXS_SESSION_WHY])
{
    char                     folder_why[SXS_SESSION_WHY - 64];
    const struct sxs_reasons reasons = {why, SXS_SESSION_WHY};
    int                      err = sxs_session_reopen(request->out, folder_why, sizeof(folder_why));
    if (err) {
        snprintf(why, SXS_SESSION_WHY, "the folder cannot be used: %s", folder_why);
        return err;
    }
    sxs_guests_close(); /* of the folder that the environment names */
    sxs_thread_names_close(); /* likewise */
    sxs_thread_names_begin();
    note_begin(request->tools, request->id);
    if (start_all(list, &reasons))
        return 0;
    if (!why[0])
        sxs_sessions_say(why, -ENOTSUP,
                         "no runtime that is profiled is among those that are asked for");
    sxs_session_end_now(1);
    return -ENOTSUP;
}

/* Whether the session that is on is the one that is asked for. */
static int joins(const struct sxs_session_request *request)
{
    return request->id && request->id[0] && strcmp(request->id, sessions.state.id) == 0;
}

static int say_busy(char why[SXS_SESSION_WHY])
{
    struct sxs_session_state now;
    sxs_session_get_state(&now);
    if (now.phase == SXS_SESSION_ENDING)
        snprintf(why, SXS_SESSION_WHY, "a session with the tools %.100s is ending: %s", now.tools,
                 now.waits_for);
    else
        snprintf(why, SXS_SESSION_WHY, "a session is on with the tools %.150s in %.200s", now.tools,
                 now.out);
    return -EBUSY;
}

static int begin_locked(const struct sxs_session_request *request, char why[SXS_SESSION_WHY])
{
    struct sxs_settings       *settings;
    struct sxs_current_session next = {.n_tools = 0};
    struct sxs_runtimes        live;
    enum sxs_mask              mask = sxs_mask();
    int                        err, loads = sxs_session_may_load_code();
    if (!sessions.settings || sxs_sessions_in_child())
        return sxs_sessions_say(why, -ENOTSUP, "the profiler is not at work in this process");
    if (sxs_sessions_phase() == SXS_SESSION_ON && joins(request))
        return 0;
    if (sxs_sessions_phase() != SXS_SESSION_NONE)
        return say_busy(why);
    settings = calloc(1, sizeof(*settings));
    if (!settings)
        return sxs_sessions_say(why, -ENOMEM, "out of memory");
    err = read_request(request, &next, settings, why);
    free(settings);
    if (err) {
        free(next.text);
        return err;
    }
    sxs_runtimes_list_staying(&live);
    sessions.now = next;
    atomic_store(&may_load_code, request->may_load_code);
    err = live.n ? begin_on(&live, request, why)
                 : sxs_sessions_say(why, -ENOTSUP,
                                    "no runtime of this process can be profiled now; after a "
                                    "detach, sxsprof sample -p PID begins a session");
    sxs_runtimes_drop(&live);
    if (err && sxs_sessions_phase() == SXS_SESSION_NONE) {
        free(sessions.now.text);
        memset(&sessions.now, 0, sizeof(sessions.now));
        sxs_mask_begin(sxs_mask_name(mask)); /* as before: not weaker than the environment's */
        atomic_store(&may_load_code, loads);
    }
    return err;
}

int sxs_session_begin(const struct sxs_session_request *request, char why[SXS_SESSION_WHY])
{
    int err;
    why[0] = '\0';
    if (sxs_sessions_lock(sxs_session_end_limit_ns / 6) != 0)
        return say_busy(why);
    err = begin_locked(request, why);
    sxs_sessions_unlock();
    return err;
}

/* ---- while it is on -------------------------------------------------------------------------- */

int sxs_session_settle(void)
{
    int err = 0;
    if (sxs_sessions_lock(sxs_session_end_limit_ns) != 0)
        return -EBUSY;
    if (sxs_sessions_in_child() || sxs_sessions_phase() != SXS_SESSION_ON)
        err = -ENOENT;
    for (size_t i = 0; !err && i < sessions.now.n_tools; i++)
        if (sessions.now.tools[i].tool->settle)
            err = sessions.now.tools[i].tool->settle();
    sxs_sessions_unlock();
    return err;
}

/* ---- for the detach -------------------------------------------------------------------------- */

int sxs_sessions_have_guests(void)
{
    return sessions.n_guests != 0;
}

void sxs_sessions_subscribe_always(struct sxs_runtime *rt)
{
    const struct sxs_settings *s = sessions.settings;
    for (size_t i = 0; i < s->n_tools; i++)
        if (!s->tools[i].of_session)
            sxs_runtime_subscribe(rt, &s->tools[i], 1, NULL);
}
