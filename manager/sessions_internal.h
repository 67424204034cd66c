/* SPDX-License-Identifier: MIT */
/** sessions_internal.h - what sessions.c, session_end.c, detach.c and manager.c share. */
#ifndef SXS_MANAGER_SESSIONS_INTERNAL_H
#define SXS_MANAGER_SESSIONS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "manager/runtime_internal.h"
#include "manager/sessions.h"
#include "manager/settings.h"

/* Time limit for handlers to finish before tools are stopped, so that their records are complete. */
#define SXS_LEAVE_NS UINT64_C(500000000)
/* Time limit for threads that are inside of handlers, at the end of a session or at a detach. */
#define SXS_DRAIN_NS UINT64_C(5000000000)

/** sxs_sessions_init - begin the first session, if the environment names tools. @settings, @tools: live as
 *  long as the process. Called once, under manager.lock. */
void sxs_sessions_init(const struct sxs_settings *settings, const struct sxs_tool *const *tools,
                       size_t n_tools);

/** Time limit in nanoseconds: a thread that asks for the end of a session, or for a detach, waits no longer than
 *  this. A thread that begins a session, and a runtime that starts or ends, wait a sixth of it. Tests set a shorter
 *  one. */
extern uint64_t sxs_session_end_limit_ns;

/** A session of this process. */
struct sxs_current_session {
    struct sxs_settings pick;    /* which runtimes it records; only the members of the pick count */
    size_t              n_tools; /* without those that are always on */
    struct sxs_enabled_tool tools[SXS_MAX_TOOLS];
    char *text; /* the tools' options point into it; owned; NULL: of the environment */
};

/** sxs_sessions_lock - take a turn: one thread at a time begins or ends a session, or starts or ends a
 *  runtime. Returns 0, or -ETIMEDOUT after @limit_ns. */
int sxs_sessions_lock(uint64_t limit_ns);

/** sxs_sessions_unlock - end the turn, which another thread may have taken. */
void sxs_sessions_unlock(void);

/** sxs_sessions_enter - take a turn for a runtime that starts or ends. The runtime cannot wait for a
 *  session that does not end, so it goes on without one after some seconds. Returns what
 *  sxs_sessions_leave() takes. */
int  sxs_sessions_enter(void);
void sxs_sessions_leave(int has_turn);

/** sxs_sessions_wait_for_others - wait for the threads between sxs_sessions_enter() and
 *  sxs_sessions_leave() that have no turn. */
void sxs_sessions_wait_for_others(void);

/* ---- with a turn ---- */

/** sxs_sessions_now - return the session; it has no tools if none is on. */
struct sxs_current_session *sxs_sessions_now(void);

/** sxs_sessions_in_child - return 1 in a forked child, which has no sessions. */
int sxs_sessions_in_child(void);

/** sxs_sessions_phase, sxs_sessions_set_phase - the member of struct sxs_session_state. */
enum sxs_session_phase sxs_sessions_phase(void);
void                   sxs_sessions_set_phase(enum sxs_session_phase phase);

/** sxs_sessions_wait_for - set `waits_for` of struct sxs_session_state. */
void sxs_sessions_wait_for(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** sxs_sessions_set_state - set the state of a runtime in the census. */
void sxs_sessions_set_state(struct sxs_runtime *rt, enum sxs_state state);

/** sxs_sessions_say - write @text to @why. Returns @err. */
int sxs_sessions_say(char why[SXS_SESSION_WHY], int err, const char *text);

/** sxs_session_find_endless - return a tool that cannot be ended before its runtimes, or NULL. */
const struct sxs_tool *sxs_session_find_endless(const struct sxs_current_session *s);

/** sxs_session_end_now - end the session on this thread, without a time limit. @discard: 1: the session
 *  has failed to begin: its files are deleted. */
void sxs_session_end_now(int discard);

/** The runtimes whose tools start, stop and are released, each with a reference. */
struct sxs_runtimes {
    struct sxs_runtime *all[SXS_MAX_RUNTIMES + 64];
    size_t              n;
};

/** sxs_runtimes_list_staying - list the runtimes that are live and are not being detached. */
void sxs_runtimes_list_staying(struct sxs_runtimes *list);

/** sxs_runtimes_drop - empty the list. */
void sxs_runtimes_drop(struct sxs_runtimes *list);

/** sxs_runtime_session_bits - return which subscriptions of @rt belong to the session, as bits. */
uint64_t sxs_runtime_session_bits(struct sxs_runtime *rt);

/** sxs_sessions_subscribe - start the tools that are always on, those of the session and the guests on
 *  a runtime that is being initialized. Between sxs_sessions_enter() and sxs_sessions_leave().
 *  Returns S_OK. */
HRESULT sxs_sessions_subscribe(struct sxs_runtime *rt);

/* ---- for the detach ---- */

/** sxs_runtimes_detach_all - ask each runtime to detach the library. No session is on. Returns as
 *  sxs_runtimes_detach(). */
int sxs_runtimes_detach_all(unsigned timeout_ms, char why[SXS_SESSION_WHY]);

/** sxs_sessions_have_guests - return 1 when other profilers run inside this one. */
int sxs_sessions_have_guests(void);

/** sxs_sessions_subscribe_always - start the tools that are always on once more. */
void sxs_sessions_subscribe_always(struct sxs_runtime *rt);

#endif
