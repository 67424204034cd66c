/* SPDX-License-Identifier: MIT */
/* ring.c - ends and begins the segments of the ring, on the thread "sxsprof session". */
#include "control/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "control/ring/conditions.h"
#include "control/ring_internal.h"
#include "control/session_thread.h"
#include "manager/runtime.h"
#include "session/format/session.h"
#include "session/write/file_write.h"
#include "signals/library/runtime_calls.h"

#define TURN_NS  UINT64_C(1000000000)
#define RETRY_NS INT64_C(5000000000)

struct sxs_ring sxs_ring = {.lock = PTHREAD_MUTEX_INITIALIZER,
                            .budget = {.scale = 1, .stretch = 1}};
SXS_FORK_RESETS(sxs_ring.lock);

/* What other threads may ask for. A leaf lock, because ring.lock may be held for a minute. */
static struct {
    pthread_mutex_t lock;
    char            path[PATH_MAX]; /* of the folder of the ring that is on; "": none is */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(shown.lock);

static void set_on(int is_on)
{
    pthread_mutex_lock(&shown.lock);
    snprintf(shown.path, sizeof(shown.path), "%s", is_on ? sxs_ring.path : "");
    pthread_mutex_unlock(&shown.lock);
    sxs_ring.is_on = is_on;
}

int sxs_ring_folder(char *out, size_t size)
{
    pthread_mutex_lock(&shown.lock);
    snprintf(out, size, "%s", shown.path);
    pthread_mutex_unlock(&shown.lock);
    return out[0] != '\0';
}

static int64_t now_ns(void)
{
    return (int64_t)sxs_now_ns(CLOCK_MONOTONIC);
}

static int is_in_child(void)
{
    return sxs_ring.generation != sxs_fork_generation();
}

static int has_live_runtime(void)
{
    struct sxs_runtime *live[SXS_MAX_RUNTIMES];
    size_t              n = sxs_runtimes_live(live, ARRAY_LEN(live));
    for (size_t i = 0; i < n; i++)
        sxs_runtime_unref(live[i]);
    return n != 0;
}

/* While the ring has no session, the server keeps the connections of clients that hold the ring. */
static void set_between(int is_between)
{
    if (sxs_ring.is_between != is_between)
        sxs_session_thread_change();
    sxs_ring.is_between = is_between;
}

/* ---- the end of the ring ---------------------------------------------------------------------- */

static void end_ring(void)
{
    if (!sxs_ring.is_on)
        return;
    sxs_ring_complete(&sxs_ring.now, now_ns());
    sxs_conditions_stop();
    sxs_ring_close();
    set_on(0);
    set_between(0);
    sxs_ring_list_free(&sxs_ring.list);
    sxs_ring_list_free(&sxs_ring.kept);
    if (sxs_ring.n_segments > 1)
        sxs_note("%s: %" PRIu64 " segments; nothing was recorded for %" PRIu64
                 " ms between them, %" PRIu64 " ms at most",
                 sxs_ring.path, sxs_ring.n_segments, sxs_ring.gaps_ns / 1000000,
                 sxs_ring.longest_gap_ns / 1000000);
}

/* Tells whether the session of the segment is on. */
static int is_session_on(void)
{
    struct sxs_session_state state;
    sxs_session_get_state(&state);
    return state.phase == SXS_SESSION_ON && state.number == sxs_ring.now.session;
}

/* Checks whether a request has ended the session. */
static void look_locked(void)
{
    if (sxs_ring.is_on && sxs_ring.now.name[0] && !is_session_on())
        end_ring();
}

int sxs_ring_stop(unsigned number)
{
    int between = 0;
    pthread_mutex_lock(&sxs_ring.lock);
    if (sxs_ring.is_on && !is_in_child() && !is_session_on() &&
        (!number || sxs_session_thread_is_same(number, sxs_ring.last_session))) {
        between = sxs_ring.is_between;
        end_ring();
    }
    pthread_mutex_unlock(&sxs_ring.lock);
    return between;
}

int sxs_ring_texts(const struct sxs_message *m, struct sxs_keep_texts *out)
{
    *out = (struct sxs_keep_texts){
        .keep = sxs_message_get(m, "keep"),
        .segment = sxs_message_get(m, "segment"),
        .on = sxs_message_get(m, "on"),
        .budget = sxs_message_get(m, "budget"),
    };
    return out->keep || out->segment || out->on || out->budget;
}

/* The program ends in the regular way: its last segment is complete. */
__attribute__((destructor)) static void ended(void)
{
    const struct timespec pause = {0, 10000000};
    for (int i = 0; i < 100; i++) {
        if (pthread_mutex_trylock(&sxs_ring.lock) == 0) {
            if (sxs_ring.is_on && !is_in_child())
                end_ring();
            pthread_mutex_unlock(&sxs_ring.lock);
            return;
        }
        nanosleep(&pause, NULL);
    }
}

/* ---- segments --------------------------------------------------------------------------------- */

/* The session of the segment has begun. */
static void note_begin(void)
{
    struct sxs_ring_current *now = &sxs_ring.now;
    struct sxs_session_state state;
    sxs_session_get_state(&state);
    now->session = state.number;
    now->started_ns = now_ns();
    now->facts.started_ns = sxs_now_ns(CLOCK_REALTIME);
    now->cost = sxs_cost_now(0);
    if (sxs_ring.last_session)
        sxs_session_thread_goes_on(sxs_ring.last_session, now->session);
    sxs_ring.last_session = now->session;
    sxs_ring.n_segments++;
}

static int call_begin(char why[SXS_SESSION_WHY])
{
    char                       out[PATH_MAX + SXS_SEGMENT_NAME];
    struct sxs_session_request request = {
        .tools = sxs_ring.now.tools,
        .out = out,
        .pick = sxs_ring.pick[0] ? sxs_ring.pick : NULL,
        .mask = sxs_ring.mask[0] ? sxs_ring.mask : NULL,
        .id = sxs_ring.id,
        .may_load_code = sxs_ring.may_load_code,
    };
    snprintf(out, sizeof(out), "%s/%s", sxs_ring.path, sxs_ring.now.name);
    return sxs_session_begin(&request, why);
}

static void forget_segment(struct sxs_ring_current *segment)
{
    if (segment->name[0])
        sxs_segment_delete(&sxs_ring.dir, segment->name, 0);
    segment->name[0] = '\0';
}

/* Begins the session of the segment sxs_ring.now. After a failure the segment is gone. Where a file of a tool had no
 * room, in this segment or in the one before, the tool is off, and the next segment gets more room: what that file
 * needs can be more than what the disk must have left (is_disk_full()). A failure makes room once. */
static int begin_segment(char why[SXS_SESSION_WHY])
{
    int err = call_begin(why);
    while (err == -ENOSPC && sxs_ring_limit(1)) {
        sxs_ring.no_room = sxs_file_no_room();
        err = call_begin(why);
    }
    unsigned no_room = sxs_file_no_room();
    if (no_room != sxs_ring.no_room)
        sxs_ring_limit(1);
    sxs_ring.no_room = no_room;
    if (err)
        forget_segment(&sxs_ring.now);
    else
        note_begin();
    return err;
}

/* Says why there is no segment, and tries again later. */
static void fail(const char *why)
{
    if (!sxs_ring.retry_ns)
        sxs_warn("%s: no segment is recorded: %s; trying again every five seconds", sxs_ring.path,
                 why);
    sxs_ring.retry_ns = now_ns() + RETRY_NS;
}

/* What was measured of the gap, when the next segment has begun. */
static void note_gap(void)
{
    uint64_t gap = (uint64_t)(sxs_ring.now.started_ns - sxs_ring.ended_ns);
    sxs_ring.now.facts.gap_ns = gap;
    sxs_ring.gaps_ns += gap;
    if (gap > sxs_ring.longest_gap_ns)
        sxs_ring.longest_gap_ns = gap;
    sxs_ring.retry_ns = 0;
    sxs_ring_describe(&sxs_ring.now, 0);
    sxs_note("segment %s with the tools %s; nothing was recorded for %" PRIu64 " ms before it",
             sxs_ring.now.name, sxs_ring.now.tools, gap / 1000000);
}

/* Tells whether a request has begun a session since the last segment ended. */
static int is_taken(void)
{
    struct sxs_session_state state;
    sxs_session_get_state(&state);
    return state.phase == SXS_SESSION_ON && state.number != sxs_ring.last_session;
}

/* Makes the segment sxs_ring.now. If the folder of segments has been deleted, or another one has
 * taken its place, the ring goes on in the folder that has its name. */
static int make_now(char why[SXS_SESSION_WHY])
{
    int err = sxs_ring_make_segment(&sxs_ring.now);
    if (err != -ENOENT && err != -ESTALE)
        return err;
    if (sxs_ring_open(why, SXS_SESSION_WHY) != 0)
        return err;
    sxs_warn("%s: the folder has been deleted or replaced; new segments are recorded into the one "
             "that is there now",
             sxs_ring.path);
    return sxs_ring_make_segment(&sxs_ring.now);
}

/* Begins the segment sxs_ring.now, which is made first if @made is 0. */
static void begin_next(int made)
{
    char why[SXS_SESSION_WHY] = "";
    int  err = made ? 0 : make_now(why);
    if (!err)
        err = begin_segment(why);
    set_between(err != 0);
    if (!err)
        note_gap();
    else if (err == -EBUSY && is_taken())
        end_ring();
    else if (has_live_runtime()) /* else the program ends */
        fail(why[0] ? why : strerror(-err));
}

/* ---- turns ------------------------------------------------------------------------------------ */

/* The session is still on: it goes on as the same segment. @next: was made for nothing. @err: of
 * its end, which is tried again later, unless the session can never be ended. */
static void stay(struct sxs_ring_current *next, int err, const char *why)
{
    forget_segment(next);
    set_between(0);
    if (!sxs_ring.retry_ns)
        sxs_warn("%s: the segment goes on: %s", sxs_ring.path, why);
    sxs_ring.retry_ns = err == -ENOTSUP ? INT64_MAX : now_ns() + RETRY_NS;
}

/* Ends the segment and begins the next one, which is made before, so that the gap is short. */
static void rotate(void)
{
    char                    why[SXS_SESSION_WHY] = "";
    struct sxs_ring_current old, next;
    int                     err, made;
    sxs_ring_adapt();
    made = sxs_ring_make_segment(&next) == 0;
    sxs_ring.now.handler_ns = sxs_ring_handler_ns();
    set_between(1);
    sxs_ring.ended_ns = now_ns();
    err = sxs_session_end(why);
    if (err && is_session_on()) {
        stay(&next, err, why);
    } else if (err == -ENOENT) { /* a request has ended it */
        forget_segment(&next);
        end_ring();
    } else {
        old = sxs_ring.now;
        sxs_ring.now = next;
        if (!made)
            sxs_ring_complete(&old, sxs_ring.ended_ns); /* the folder may be exchanged */
        begin_next(made);
        sxs_ring_complete(&old, sxs_ring.ended_ns);
        sxs_ring_limit(0);
    }
}

static int is_due(void)
{
    if (now_ns() < sxs_ring.retry_ns)
        return 0;
    return (uint64_t)(now_ns() - sxs_ring.now.started_ns) + TURN_NS / 20 >= sxs_ring_every_ns() ||
           sxs_ring_is_too_large() || sxs_ring_is_too_dear();
}

/* Returns the nanoseconds until the next turn. */
static uint64_t next_turn(void)
{
    uint64_t gone = (uint64_t)(now_ns() - sxs_ring.now.started_ns);
    uint64_t every = sxs_ring_every_ns(), left = every > gone ? every - gone : 1;
    return sxs_ring.now.name[0] && left < TURN_NS ? left : TURN_NS;
}

static void turn_locked(void)
{
    look_locked();
    if (!sxs_ring.is_on)
        return;
    sxs_conditions_look(sxs_ring_happened, NULL);
    if (!has_live_runtime()) /* the program ends, or is about to begin */
        return;
    if (!sxs_ring.now.name[0]) {
        if (now_ns() >= sxs_ring.retry_ns)
            begin_next(0);
    } else if (is_due()) {
        rotate();
    } else {
        sxs_ring_limit(0);
    }
}

static uint64_t take_turn(void)
{
    uint64_t next = 0;
    pthread_mutex_lock(&sxs_ring.lock);
    if (sxs_ring.is_on && !is_in_child()) {
        sxs_runtime_calls_begin();
        turn_locked();
        sxs_runtime_calls_end();
        next = sxs_ring.is_on ? next_turn() : 0;
    }
    pthread_mutex_unlock(&sxs_ring.lock);
    return next;
}

/* ---- the begin -------------------------------------------------------------------------------- */

int sxs_ring_start(void)
{
    struct sxs_session_state state;
    int                      is_on;
    pthread_mutex_lock(&sxs_ring.lock);
    sxs_session_thread_also(take_turn, sxs_ring_stop);
    if (sxs_ring.is_ready) {
        sxs_session_get_state(&state);
        set_on(state.phase == SXS_SESSION_ON && state.out[0]);
        if (sxs_ring.is_on) {
            note_begin();
        } else {
            forget_segment(&sxs_ring.now);
            sxs_ring_close();
        }
        sxs_ring.is_ready = 0;
    }
    is_on = sxs_ring.is_on;
    pthread_mutex_unlock(&sxs_ring.lock);
    return is_on;
}

int sxs_ring_is_wanted(void)
{
    return sxs_ring.is_ready;
}

/* Copies the request. Returns 0, or -EINVAL or -ENOTSUP with a reason. */
static int take_request(const struct sxs_session_request *request,
                        const struct sxs_keep_texts *texts, char why[SXS_SESSION_WHY])
{
    if (sxs_keep_parse(texts, &sxs_ring.settings, why, SXS_SESSION_WHY) != 0)
        return -EINVAL;
    if (sxs_keep_tools_check(request->tools, why, SXS_SESSION_WHY) != 0)
        return -ENOTSUP;
    if (!request->out || request->out[0] != '/' || strlen(request->tools) >= SXS_KEEP_TOOLS ||
        (request->pick && strlen(request->pick) >= sizeof(sxs_ring.pick))) {
        snprintf(why, SXS_SESSION_WHY,
                 "expected an absolute path of the folder, and shorter texts");
        return -EINVAL;
    }
    sxs_ring.may_load_code = request->may_load_code;
    snprintf(sxs_ring.path, sizeof(sxs_ring.path), "%s", request->out);
    snprintf(sxs_ring.tools, sizeof(sxs_ring.tools), "%s", request->tools);
    snprintf(sxs_ring.pick, sizeof(sxs_ring.pick), "%s", request->pick ? request->pick : "");
    snprintf(sxs_ring.mask, sizeof(sxs_ring.mask), "%s", request->mask ? request->mask : "");
    snprintf(sxs_ring.id, sizeof(sxs_ring.id), "%s", request->id ? request->id : "");
    return 0;
}

static void reset_ring(void)
{
    sxs_ring.generation = sxs_fork_generation();
    sxs_ring.budget = (struct sxs_budget){.scale = 1, .stretch = 1};
    sxs_ring.adapted[0] = '\0';
    sxs_ring.n_events = 0;
    sxs_ring.last_session = 0;
    sxs_ring.n_segments = sxs_ring.gaps_ns = sxs_ring.longest_gap_ns = 0;
    sxs_ring.ended_ns = sxs_ring.retry_ns = sxs_ring.full_ns = 0;
    sxs_ring.no_room = sxs_file_no_room(); /* sessions before this ring do not count */
    sxs_ring.next.number = 0; /* until the folder is open */
}

static int begin_locked(const struct sxs_session_request *request,
                        const struct sxs_keep_texts *texts, char why[SXS_SESSION_WHY])
{
    char reason[SXS_SESSION_WHY - 64] = "";
    int  err;
    look_locked();
    if (sxs_ring.is_on && request->id && request->id[0] && strcmp(request->id, sxs_ring.id) == 0)
        return 0;
    if (sxs_ring.is_on) {
        snprintf(why, SXS_SESSION_WHY, "segments are recorded into %.300s", sxs_ring.path);
        return -EBUSY;
    }
    err = take_request(request, texts, why);
    if (err)
        return err;
    reset_ring();
    if (sxs_ring_open(reason, sizeof(reason)) != 0) {
        snprintf(why, SXS_SESSION_WHY, "the folder cannot be used: %s", reason);
        return -EACCES;
    }
    err = sxs_ring_make_segment(&sxs_ring.now);
    if (err) {
        snprintf(why, SXS_SESSION_WHY, "%.200s: %s", sxs_ring.path, strerror(-err));
    } else {
        sxs_conditions_start(&sxs_ring.settings);
        err = begin_segment(why);
        if (err)
            sxs_conditions_stop();
    }
    if (err)
        sxs_ring_close();
    set_on(!err);
    return err;
}

int sxs_ring_begin(const struct sxs_session_request *request, const struct sxs_keep_texts *texts,
                   char why[SXS_SESSION_WHY])
{
    int err;
    why[0] = '\0';
    if (!sxs_session_thread_runs()) {
        snprintf(why, SXS_SESSION_WHY, "SXSPROF_CONTROL=off: nothing can begin the next segment");
        return -ENOTSUP;
    }
    pthread_mutex_lock(&sxs_ring.lock);
    err = begin_locked(request, texts, why);
    pthread_mutex_unlock(&sxs_ring.lock);
    if (!err)
        sxs_session_thread_wake();
    return err;
}
