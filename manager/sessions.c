/* SPDX-License-Identifier: MIT */
/* sessions.c - sessions begin and end while the runtimes go on. The first one, which the environment
 * asks for, begins before the first runtime; its tools are started on each runtime in Initialize. */
#include "manager/sessions.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "manager/manager.h"
#include "manager/runtime_internal.h"
#include "manager/sessions_internal.h"
#include "session/write/guests_write.h"
#include "session/write/session_write.h"

/* A session of this process. */
struct session {
    struct sxs_settings pick;    /* which runtimes it records; only the members of the pick count */
    size_t              n_tools; /* without those that are always on */
    struct sxs_enabled_tool tools[SXS_MAX_TOOLS];
    char *text; /* the tools' options point into it; owned; NULL: of the environment */
};

static struct {
    pthread_mutex_t
        turn; /* outermost: one begin or end, or one start or end of a runtime, at a time */
    struct session                now; /* under turn */
    struct sxs_enabled_tool       guests[SXS_MAX_TOOLS];
    size_t                        n_guests;
    const struct sxs_settings    *settings; /* of the environment; constant */
    const struct sxs_tool *const *known;
    size_t                        n_known;
    unsigned                      generation; /* sxs_fork_generation() of this process */

    pthread_mutex_t          lock; /* a leaf lock; guards state */
    struct sxs_session_state state;
} sessions = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sessions.turn);
SXS_FORK_RESETS(sessions.lock);

void sxs_sessions_lock(void)
{
    pthread_mutex_lock(&sessions.turn);
}

void sxs_sessions_unlock(void)
{
    pthread_mutex_unlock(&sessions.turn);
}

static int is_in_child(void)
{
    return sessions.settings && sessions.generation != sxs_fork_generation();
}

static int say(char why[SXS_SESSION_WHY], int err, const char *text)
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

static void set_phase(enum sxs_session_phase phase)
{
    pthread_mutex_lock(&sessions.lock);
    sessions.state.phase = phase;
    if (phase == SXS_SESSION_NONE)
        sessions.state.tools[0] = sessions.state.out[0] = sessions.state.id[0] = '\0';
    pthread_mutex_unlock(&sessions.lock);
}

static enum sxs_session_phase phase_now(void)
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

static void take_tools(struct session *s, const struct sxs_settings *from)
{
    s->n_tools = 0;
    for (size_t i = 0; i < from->n_tools; i++)
        if (from->tools[i].of_session)
            s->tools[s->n_tools++] = from->tools[i];
}

/* Write the names of the tools that were named, for people. */
static void list_tools(const struct session *s, char *out, size_t size)
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
    char text[sizeof(sessions.state.tools)];
    sessions.settings = settings;
    sessions.known = tools;
    sessions.n_known = n_tools;
    sessions.generation = sxs_fork_generation();
    take_tools(&sessions.now, settings);
    sessions.now.pick.pick = SXS_PICK_ALL; /* the manager picks by the environment already */
    list_tools(&sessions.now, text, sizeof(text));
    if (sessions.now.n_tools)
        note_begin(text, "");
}

void sxs_manager_enable(const struct sxs_enabled_tool *tools, size_t n)
{
    sxs_sessions_lock();
    for (size_t i = 0; i < n; i++) {
        if (sessions.n_guests + sessions.settings->n_tools < SXS_MAX_TOOLS)
            sessions.guests[sessions.n_guests++] = tools[i];
        else
            sxs_error("%s is off: there can be %d tools and guests", tools[i].tool->name,
                      SXS_MAX_TOOLS);
    }
    sxs_sessions_unlock();
}

/* ---- runtimes -------------------------------------------------------------------------------- */

/* Whether the session records @rt, of those that the settings pick. */
static int is_in_session(const struct session *s, const struct sxs_runtime *rt, unsigned first)
{
    if (s->pick.pick == SXS_PICK_FIRST)
        return rt->number == first;
    return s->pick.pick == SXS_PICK_ALL ||
           sxs_settings_names(s->pick.pick_what, rt->version, rt->path);
}

static void set_state(struct sxs_runtime *rt, enum sxs_state state)
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
    if (phase_now() == SXS_SESSION_ON && is_in_session(&sessions.now, rt, 0))
        for (size_t i = 0; i < sessions.now.n_tools && n < SXS_MAX_TOOLS; i++)
            all[n++] = sessions.now.tools[i];
    for (size_t i = 0; i < sessions.n_guests && n < SXS_MAX_TOOLS; i++)
        all[n++] = sessions.guests[i];
    sxs_runtime_subscribe(rt, all, n, NULL);
    if (phase_now() == SXS_SESSION_ON && !is_in_session(&sessions.now, rt, 0))
        rt->state = SXS_STATE_GUARDED; /* for this session */
    return S_OK;
}

/* The runtimes whose tools start, stop and are released, each with a reference. */
struct runtimes {
    struct sxs_runtime *all[SXS_MAX_RUNTIMES + 64];
    size_t              n;
};

/* List the runtimes that are known, also those that have ended. Waits for those that are just being
 * freed, because that calls release() of their tools. */
static void list_known(struct runtimes *list)
{
    const struct timespec pause = {0, 1000000};
    size_t                n_dying;
    for (;;) {
        list->n = sxs_runtimes_known(list->all, ARRAY_LEN(list->all), &n_dying);
        if (!n_dying)
            return;
        while (list->n)
            sxs_runtime_unref(list->all[--list->n]);
        nanosleep(&pause, NULL);
    }
}

static void list_live(struct runtimes *list)
{
    list->n = sxs_runtimes_live(list->all, ARRAY_LEN(list->all));
}

static void drop_runtimes(struct runtimes *list)
{
    while (list->n)
        sxs_runtime_unref(list->all[--list->n]);
}

/* ---- the end --------------------------------------------------------------------------------- */

static uint64_t bits_of_session(struct sxs_runtime *rt)
{
    uint64_t bits;
    pthread_mutex_lock(&rt->mask_lock);
    bits = rt->of_session & rt->taken;
    pthread_mutex_unlock(&rt->mask_lock);
    return bits;
}

/* Returns 0, or -ETIMEDOUT when a thread stays inside of a handler of one of the runtimes. */
static int drain_all(const struct runtimes *list, uint64_t limit_ns)
{
    int err = 0;
    for (size_t i = 0; i < list->n; i++)
        if (bits_of_session(list->all[i]) && sxs_runtime_drain(list->all[i], limit_ns))
            err = -ETIMEDOUT;
    return err;
}

static void stop_all(const struct runtimes *list)
{
    for (size_t i = 0; i < list->n; i++)
        sxs_runtime_silence(list->all[i], bits_of_session(list->all[i]));
    drain_all(list, SXS_LEAVE_NS);
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_runtime *rt = list->all[i];
        sxs_runtime_stop(rt, bits_of_session(rt),
                         sxs_runtime_is_live(rt) ? SXS_STOP_SESSION : SXS_STOP_DETACHED);
    }
}

/* What follows when no thread is inside of a handler any more. */
static void finish(const struct runtimes *list, int discard)
{
    struct session *s = &sessions.now;
    for (size_t i = 0; i < list->n; i++)
        sxs_runtime_release(list->all[i], bits_of_session(list->all[i]));
    for (size_t i = s->n_tools; i-- > 0;)
        if (s->tools[i].tool->end_session)
            s->tools[i].tool->end_session();
    sxs_session_state_reset();
    sxs_guests_close();
    if (sxs_session_close(discard) != 0)
        sxs_error("no memory: the census of the session goes on");
    for (size_t i = 0; i < list->n; i++)
        if (sxs_runtime_is_live(list->all[i]))
            set_state(list->all[i], list->all[i]->admitted_as);
    free(s->text);
    memset(s, 0, sizeof(*s));
    set_phase(SXS_SESSION_NONE);
}

/* Stop the tools, and finish unless a thread stays inside of a handler. */
static int end_now(int discard)
{
    struct runtimes list;
    int             err;
    list_known(&list);
    set_phase(SXS_SESSION_ENDING);
    stop_all(&list);
    err = drain_all(&list, SXS_DRAIN_NS);
    if (!err)
        finish(&list, discard);
    drop_runtimes(&list);
    return err;
}

/* A tool that cannot be ended before its runtimes, or NULL. */
static const struct sxs_tool *find_endless(const struct session *s)
{
    for (size_t i = 0; i < s->n_tools; i++)
        if (!s->tools[i].tool->restarts)
            return s->tools[i].tool;
    return NULL;
}

static int end_locked(char why[SXS_SESSION_WHY])
{
    const struct sxs_tool *endless = find_endless(&sessions.now);
    why[0] = '\0';
    if (is_in_child() || phase_now() == SXS_SESSION_NONE)
        return say(why, -ENOENT, "no session is on");
    if (endless) {
        snprintf(why, SXS_SESSION_WHY, "the tool %s records until the program ends", endless->name);
        return -ENOTSUP;
    }
    if (end_now(0) == 0)
        return 0;
    return say(
        why, -ETIMEDOUT,
        "a thread stays inside of the profiler; no session can begin until it has come back");
}

int sxs_session_end(char why[SXS_SESSION_WHY])
{
    int err;
    sxs_sessions_lock();
    err = end_locked(why);
    sxs_sessions_unlock();
    return err;
}

/* ---- the begin ------------------------------------------------------------------------------- */

/* Read the request into @s and @settings. Returns 0 or -EINVAL, -ENOTSUP, -ENOMEM with @why. */
static int read_request(const struct sxs_session_request *request, struct session *s,
                        struct sxs_settings *settings, char why[SXS_SESSION_WHY])
{
    const struct sxs_tool *endless;
    if (!request->tools || !request->out || request->out[0] != '/')
        return say(why, -EINVAL, "expected tools, and an absolute path of the session folder");
    if (sxs_settings_parse_pick(&s->pick, request->pick) != 0)
        return say(why, -EINVAL, "pick: expected all, first, or one:VERSION or one:PATH");
    s->text = strdup(request->tools);
    if (!s->text)
        return say(why, -ENOMEM, "out of memory");
    if (sxs_settings_parse_tools(settings, sessions.known, sessions.n_known, s->text, why,
                                 SXS_SESSION_WHY) != 0)
        return -EINVAL;
    take_tools(s, settings);
    endless = find_endless(s);
    if (!endless)
        return 0;
    snprintf(why, SXS_SESSION_WHY, "the tool %s can only be started with the program",
             endless->name);
    return -ENOTSUP;
}

static unsigned lowest_number(const struct runtimes *list)
{
    unsigned number = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->all[i]->admitted_as == SXS_STATE_PICKED &&
            (!number || list->all[i]->number < number))
            number = list->all[i]->number;
    return number;
}

/* Start the session's tools on the live runtimes. Returns how many were started that another tool
 * does not only need. */
static unsigned start_all(const struct runtimes *list, const struct sxs_reasons *why)
{
    struct session *s = &sessions.now;
    unsigned        first = lowest_number(list), n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_runtime *rt = list->all[i];
        uint64_t            bits;
        if (rt->admitted_as != SXS_STATE_PICKED || !is_in_session(s, rt, first)) {
            set_state(rt, SXS_STATE_GUARDED);
            continue;
        }
        sxs_runtime_subscribe(rt, s->tools, s->n_tools, why);
        bits = bits_of_session(rt);
        for (unsigned at = 0; at < rt->n_subs; at++)
            for (size_t t = 0; t < s->n_tools && (bits >> at & 1); t++)
                n += rt->subs[at].tool == s->tools[t].tool &&
                     (t + 1 == s->n_tools || !s->tools[t + 1].tool->needs ||
                      strcmp(s->tools[t + 1].tool->needs, s->tools[t].tool->name) != 0);
    }
    return n;
}

static int begin_on(const struct runtimes *list, const struct sxs_session_request *request,
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
    note_begin(request->tools, request->id);
    if (start_all(list, &reasons))
        return 0;
    if (!why[0])
        say(why, -ENOTSUP, "no runtime that is profiled is among those that are asked for");
    if (end_now(1) != 0)
        sxs_error("a thread stays inside of the profiler after a session has failed to begin");
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
    snprintf(why, SXS_SESSION_WHY, "a session is %s with the tools %.150s in %.200s",
             now.phase == SXS_SESSION_ON ? "on" : "ending", now.tools, now.out);
    return -EBUSY;
}

static int begin_locked(const struct sxs_session_request *request, char why[SXS_SESSION_WHY])
{
    struct sxs_settings *settings;
    struct session       next = {.n_tools = 0};
    struct runtimes      live;
    int                  err;
    if (!sessions.settings || is_in_child())
        return say(why, -ENOTSUP, "the profiler is not at work in this process");
    if (phase_now() == SXS_SESSION_ENDING) /* perhaps the thread has come back */
        end_now(0);
    if (phase_now() == SXS_SESSION_ON && joins(request))
        return 0;
    if (phase_now() != SXS_SESSION_NONE)
        return say_busy(why);
    settings = calloc(1, sizeof(*settings));
    if (!settings)
        return say(why, -ENOMEM, "out of memory");
    err = read_request(request, &next, settings, why);
    free(settings);
    if (err) {
        free(next.text);
        return err;
    }
    list_live(&live);
    sessions.now = next;
    err = live.n ? begin_on(&live, request, why)
                 : say(why, -ENOTSUP, "no runtime of this process can be profiled now");
    drop_runtimes(&live);
    if (err && phase_now() == SXS_SESSION_NONE && sessions.now.text) {
        free(sessions.now.text);
        memset(&sessions.now, 0, sizeof(sessions.now));
    }
    return err;
}

int sxs_session_begin(const struct sxs_session_request *request, char why[SXS_SESSION_WHY])
{
    int err;
    why[0] = '\0';
    sxs_sessions_lock();
    err = begin_locked(request, why);
    sxs_sessions_unlock();
    return err;
}

/* ---- while it is on -------------------------------------------------------------------------- */

int sxs_session_settle(void)
{
    int err = 0;
    sxs_sessions_lock();
    if (is_in_child() || phase_now() != SXS_SESSION_ON)
        err = -ENOENT;
    for (size_t i = 0; !err && i < sessions.now.n_tools; i++)
        if (sessions.now.tools[i].tool->settle)
            err = sessions.now.tools[i].tool->settle();
    sxs_sessions_unlock();
    return err;
}

/* ---- for the detach -------------------------------------------------------------------------- */

int sxs_sessions_end_any(char why[SXS_SESSION_WHY])
{
    if (is_in_child())
        return say(why, -ENOTSUP, "the profiler is not at work in this process");
    return phase_now() == SXS_SESSION_NONE ? 0 : end_locked(why);
}

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
