/* SPDX-License-Identifier: MIT */
/**
 * sessions.h - begin and end sessions while the process runs.
 *
 * A session is what the tools record into one session folder. A process that was started with
 * settings (SXSPROF_TOOLS, SXSPROF_OUT) begins its first session when its first runtime loads the
 * library. Later ones are begun by requests: by an attach, or over the control socket. There is at
 * most one session at a time. Tools that are always on (struct sxs_tool.always) belong to the
 * runtime, not to a session.
 *
 * The end of a session, in this order: no further event is delivered to its tools; stop() of each
 * subscription with SXS_STOP_SESSION, while the runtime can still be called; waiting until no thread
 * is inside a handler; release() of each subscription; end_session() of each tool, in reverse order,
 * which joins the tool's threads and closes its files; the variables of base/session_state.h are set
 * back; the census of the session is complete and closed.
 */
#ifndef SXS_MANAGER_SESSIONS_H
#define SXS_MANAGER_SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define SXS_SESSION_WHY 512 /* bytes that are enough for a reason */

/** What a session is to record. */
struct sxs_session_request {
    const char *tools; /* as SXSPROF_TOOLS: "NAME:OPTIONS;NAME..."; not empty */
    const char *out;   /* as SXSPROF_OUT: the session folder, absolute */
    const char *pick;  /* as SXSPROF_PICK; NULL: all */
    const char *mask;  /* as SXSPROF_MASK; it can only be stricter than that; NULL: the same */
    const char *id;    /* at most 32 characters, chosen by the client. Two requests with the same
                        * ID join one session, as when a command attaches to several runtimes */
    int may_load_code; /* 1: tools may load libraries and assemblies that their settings name, and
                        * insert IL of the settings' own; see sxs_session_may_load_code() */
};

enum sxs_session_phase {
    SXS_SESSION_NONE,   /* nothing is recorded but the counts of the tool census, in memory */
    SXS_SESSION_ON,
    SXS_SESSION_ENDING,
};

/** The state of sessions in this process. */
struct sxs_session_state {
    enum sxs_session_phase phase;
    unsigned               number;     /* 1, 2, 3...: sessions of this process so far */
    uint64_t               started_ns; /* CLOCK_REALTIME */
    char                   id[33];     /* "": by the settings of the environment */
    char                   tools[1024];
    char                   out[4096]; /* this process's folder; "": none */
    char                   waits_for[160]; /* what the end of a session, or a detach, is doing now; "":
                                            * nothing ends */
};

/**
 * sxs_session_begin - begin a session on the runtimes that are live, and on those that are loaded later.
 * @why: receives one sentence for the user after a failure, and after a success what is left out
 *   (a tool that a runtime refuses), or ""; SXS_SESSION_WHY bytes.
 * Returns 0; -EBUSY: another session is on, or does not end (@why names its tools and folder);
 * -EINVAL: a setting is not understood; -EPERM: a tool would load code (@why says what to set);
 * -ENOTSUP: no tool can be started now; or another negative errno value of the folder. After a
 * failure nothing has changed. Waits for nothing but the runtimes. Any thread that is not inside a
 * callback; not signal-safe.
 */
int sxs_session_begin(const struct sxs_session_request *request, char why[SXS_SESSION_WHY]);

/**
 * sxs_session_end - end the session: all its files are complete when it returns 0.
 * Returns 0; -ENOENT: no session is on; -ENOTSUP: a tool of this session cannot be ended before its
 * runtime (@why names it), and the session goes on; -ETIMEDOUT: after a minute the session has not
 * ended, because a thread stays inside of a handler or a runtime does not return from a call (@why
 * says where). Its end goes on by itself, on a thread of its own; until then its files and memory
 * stay as they are, and no session can begin. Any thread that is not inside a callback; not
 * signal-safe.
 */
int sxs_session_end(char why[SXS_SESSION_WHY]);

/**
 * sxs_session_may_load_code - return 1 if tools of the session that is on, or is beginning, may load
 * code that their settings name. The session of the environment may, because the user who sets the
 * environment can load anything. So may one that a diagnostics port has begun, which loads code
 * itself. A request over the control socket may only with SXSPROF_CONTROL=code. Any thread.
 */
int sxs_session_may_load_code(void);

/** sxs_session_get_state - fill @out. Any thread. */
void sxs_session_get_state(struct sxs_session_state *out);

/**
 * sxs_session_settle - look up the names of everything recorded so far, so that a copy of the files
 * is a complete session. Returns 0 or a negative errno value. Any thread that is not inside a
 * callback.
 */
int sxs_session_settle(void);

/**
 * sxs_runtimes_detach - end the session if one is on, and ask each runtime to detach the library
 * (RequestProfilerDetach).
 * @timeout_ms: given to each runtime: the time until it first checks whether threads are still inside the library.
 * @why: names the runtimes that cannot be detached, and the reason; else "".
 * Returns 0 when all have been asked; a runtime is detached when it is not live any more. -ENOTSUP:
 * some cannot; -ETIMEDOUT: as sxs_session_end(), also for a runtime that does not answer.
 * The library stays in memory, with its signal router; no runtime calls it.
 */
int sxs_runtimes_detach(unsigned timeout_ms, char why[SXS_SESSION_WHY]);

/** sxs_runtimes_are_detaching - return 1 from the beginning of a detach until each runtime has been asked to detach
 *  the library. Meanwhile the runtimes are live and the session may have ended. Any thread. */
int sxs_runtimes_are_detaching(void);

#endif
