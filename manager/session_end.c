/* SPDX-License-Identifier: MIT */
/* session_end.c - the end of a session, and a detach, on the thread "sxsprof end". A runtime may
 * never return from a call, and a thread may stay inside of a handler for as long as the system does
 * not let it run. What they use must not be freed before. So the thread that ends the session waits for
 * them without a limit. The thread that asked for the end waits for that thread, but only for a limited time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "manager/manager.h"
#include "manager/runtime_internal.h"
#include "manager/sessions_internal.h"
#include "session/write/guests_write.h"
#include "session/write/session_write.h"
#include "signals/library/runtime_calls.h"
#include "thread_names/thread_names.h"

uint64_t sxs_session_end_limit_ns = UINT64_C(60000000000);

/* ---- the runtimes ---------------------------------------------------------------------------- */

/* List the runtimes that are known, also those that have ended. Waits for those that are just being
 * freed, because that calls release() of their tools. */
static void list_known(struct sxs_runtimes *list)
{
    const struct timespec pause = {0, 1000000};
    size_t                n_dying;
    for (;;) {
        list->n = sxs_runtimes_known(list->all, ARRAY_LEN(list->all), &n_dying);
        if (!n_dying)
            return;
        sxs_runtimes_drop(list);
        nanosleep(&pause, NULL);
    }
}

void sxs_runtimes_list_staying(struct sxs_runtimes *list)
{
    size_t n = sxs_runtimes_live(list->all, ARRAY_LEN(list->all));
    list->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (sxs_runtime_is_leaving(list->all[i]))
            sxs_runtime_unref(list->all[i]);
        else
            list->all[list->n++] = list->all[i];
    }
}

void sxs_runtimes_drop(struct sxs_runtimes *list)
{
    while (list->n)
        sxs_runtime_unref(list->all[--list->n]);
}

uint64_t sxs_runtime_session_bits(struct sxs_runtime *rt)
{
    uint64_t bits;
    pthread_mutex_lock(&rt->mask_lock);
    bits = rt->of_session & rt->taken;
    pthread_mutex_unlock(&rt->mask_lock);
    return bits;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Returns 0, or -ETIMEDOUT when a thread stays inside of a handler of one of the runtimes. */
static int drain_all(const struct sxs_runtimes *list, uint64_t limit_ns)
{
    int err = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_runtime *rt = list->all[i];
        sxs_sessions_wait_for("a thread of runtime %u (%s) is inside of an event of the profiler",
                              rt->number, rt->version);
        if (sxs_runtime_session_bits(rt) && sxs_runtime_drain(rt, limit_ns))
            err = -ETIMEDOUT;
    }
    return err;
}

static void stop_tools(struct sxs_runtime *rt)
{
    uint64_t bits = sxs_runtime_session_bits(rt);
    for (unsigned i = SXS_MAX_TOOLS; i-- > 0;) {
        if (!(bits >> i & 1))
            continue;
        sxs_sessions_wait_for("the tool %s stops in runtime %u (%s)", rt->subs[i].tool->name,
                              rt->number, rt->version);
        sxs_runtime_stop(rt, UINT64_C(1) << i,
                         sxs_runtime_is_live(rt) ? SXS_STOP_SESSION : SXS_STOP_DETACHED);
    }
}

static void stop_all(const struct sxs_runtimes *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_runtime *rt = list->all[i];
        sxs_sessions_wait_for("runtime %u (%s) is asked for no more events", rt->number,
                              rt->version);
        sxs_runtime_silence(rt, sxs_runtime_session_bits(rt));
    }
    drain_all(list, SXS_LEAVE_NS);
    for (size_t i = 0; i < list->n; i++)
        stop_tools(list->all[i]);
}

/* What follows when no thread is inside of a handler any more. */
static void finish(const struct sxs_runtimes *list, int discard)
{
    struct sxs_current_session *s = sxs_sessions_now();
    for (size_t i = 0; i < list->n; i++)
        sxs_runtime_release(list->all[i], sxs_runtime_session_bits(list->all[i]));
    for (size_t i = s->n_tools; i-- > 0;) {
        sxs_sessions_wait_for("the tool %s ends its threads and completes its files",
                              s->tools[i].tool->name);
        if (s->tools[i].tool->end_session)
            s->tools[i].tool->end_session();
    }
    sxs_session_state_reset();
    sxs_guests_close();
    sxs_thread_names_close();
    if (sxs_session_close(discard) != 0)
        sxs_error("no memory: the census of the session goes on");
    for (size_t i = 0; i < list->n; i++)
        if (sxs_runtime_is_live(list->all[i]))
            sxs_sessions_set_state(list->all[i], list->all[i]->admitted_as);
    free(s->text);
    memset(s, 0, sizeof(*s));
}

/* Wait for runtimes that start or end without a turn. */
static void wait_for_others(void)
{
    sxs_sessions_wait_for("a runtime starts or ends");
    sxs_sessions_wait_for_others();
}

void sxs_session_end_now(int discard)
{
    struct sxs_runtimes list;
    sxs_sessions_set_phase(SXS_SESSION_ENDING);
    wait_for_others(); /* one may just be starting the session's tools; later ones do not */
    sxs_sessions_wait_for("a runtime that has ended is given up");
    list_known(&list);
    stop_all(&list);
    while (drain_all(&list, SXS_DRAIN_NS) != 0)
        continue;
    wait_for_others(); /* one may just be stopping them */
    finish(&list, discard);
    sxs_runtimes_drop(&list);
    sxs_sessions_set_phase(SXS_SESSION_NONE);
}

const struct sxs_tool *sxs_session_find_endless(const struct sxs_current_session *s)
{
    for (size_t i = 0; i < s->n_tools; i++)
        if (!s->tools[i].tool->restarts)
            return s->tools[i].tool;
    return NULL;
}

/* Whether the session can be ended. Returns 0, -ENOENT or -ENOTSUP. */
static int can_end(char why[SXS_SESSION_WHY])
{
    const struct sxs_tool *endless = sxs_session_find_endless(sxs_sessions_now());
    if (sxs_sessions_in_child() || sxs_sessions_phase() == SXS_SESSION_NONE)
        return sxs_sessions_say(why, -ENOENT, "no session is on");
    if (!endless)
        return 0;
    snprintf(why, SXS_SESSION_WHY, "the tool %s records until the program ends", endless->name);
    return -ENOTSUP;
}

/* ---- the thread ------------------------------------------------------------------------------ */

enum { RUNS, IS_DONE, IS_ALONE };

/* The request to end a session. There is one at a time; the thread that has the turn writes it. */
static struct {
    struct sxs_worker worker;
    _Atomic int       state; /* IS_ALONE: nobody waits: the thread ends the turn */
    int               ends, detaches;
    unsigned          timeout_ms; /* of the detach */
    int               err;
    char              why[SXS_SESSION_WHY];
} request;

/* 1: a detach was asked for, and not each runtime has been asked yet. */
static _Atomic int detaching;

int sxs_runtimes_are_detaching(void)
{
    return atomic_load(&detaching);
}

static void do_request(void)
{
    atomic_store(&detaching, request.detaches);
    if (request.ends)
        sxs_session_end_now(0);
    if (request.detaches)
        request.err = sxs_runtimes_detach_all(request.timeout_ms, request.why);
    atomic_store(&detaching, 0);
    sxs_sessions_wait_for("%s", "");
}

static void run_request(void)
{
    int runs = RUNS;
    sxs_runtime_calls_begin();
    do_request();
    sxs_runtime_calls_end();
    if (atomic_compare_exchange_strong(&request.state, &runs, IS_DONE))
        return; /* the thread that waits goes on with the turn */
    sxs_warn("the session that did not end in time has ended now");
    sxs_sessions_unlock();
}

/* Returns what is left of the limit of a request that came at @began. */
static uint64_t left_of(uint64_t began)
{
    uint64_t gone = sxs_now_ns(CLOCK_MONOTONIC) - began;
    return gone < sxs_session_end_limit_ns ? sxs_session_end_limit_ns - gone : 0;
}

/* With the turn, which has ended when it returns, or ends when the thread has done its work. @began:
 * when the request came. */
static int run_with_limit(uint64_t began, char why[SXS_SESSION_WHY])
{
    static const struct sxs_thread  thread = {"sxsprof end", run_request};
    static struct sxs_session_state state; /* large; under the turn */
    int                             err, runs = RUNS;
    request.err = 0;
    request.why[0] = '\0';
    atomic_store(&request.state, RUNS);
    if (sxs_worker_start(&request.worker, &thread) != 0) {
        do_request(); /* no thread: without a limit */
    } else if (sxs_worker_end_within(&request.worker, left_of(began)) != 0) {
        sxs_session_get_state(&state);
        snprintf(why, SXS_SESSION_WHY,
                 "it does not end yet: %s; it goes on by itself, and no session can begin before",
                 state.waits_for);
        if (atomic_compare_exchange_strong(&request.state, &runs, IS_ALONE))
            return -ETIMEDOUT;
        sxs_worker_end(&request.worker);
    }
    err = request.err;
    snprintf(why, SXS_SESSION_WHY, "%s", request.why);
    sxs_sessions_unlock();
    return err;
}

/* Returns 0 with the turn, or -ETIMEDOUT. */
static int take_turn(char why[SXS_SESSION_WHY])
{
    struct sxs_session_state *state;
    if (sxs_sessions_lock(sxs_session_end_limit_ns) == 0)
        return 0;
    state = malloc(sizeof(*state));
    if (state) {
        sxs_session_get_state(state);
        snprintf(why, SXS_SESSION_WHY, "an earlier request does not end: %s", state->waits_for);
    }
    free(state);
    return -ETIMEDOUT;
}

int sxs_session_end(char why[SXS_SESSION_WHY])
{
    uint64_t began = sxs_now_ns(CLOCK_MONOTONIC);
    int      err;
    why[0] = '\0';
    if (take_turn(why) != 0)
        return -ETIMEDOUT;
    err = can_end(why);
    if (err) {
        sxs_sessions_unlock();
        return err;
    }
    request.ends = 1;
    request.detaches = 0;
    return run_with_limit(began, why);
}

int sxs_runtimes_detach(unsigned timeout_ms, char why[SXS_SESSION_WHY])
{
    uint64_t began = sxs_now_ns(CLOCK_MONOTONIC);
    int      err;
    why[0] = '\0';
    if (take_turn(why) != 0)
        return -ETIMEDOUT;
    err = can_end(why);
    if (err == -ENOTSUP || sxs_sessions_in_child()) {
        if (sxs_sessions_in_child())
            sxs_sessions_say(why, err, "the profiler is not at work in this process");
        sxs_sessions_unlock();
        return -ENOTSUP;
    }
    why[0] = '\0';
    request.ends = !err;
    request.detaches = 1;
    request.timeout_ms = timeout_ms;
    return run_with_limit(began, why);
}
