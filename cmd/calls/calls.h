/* SPDX-License-Identifier: MIT */
/**
 * calls.h - reports of counted calls, for the command.
 *
 * A session is loaded once: every process that has a file "calls". Functions of one name in one
 * runtime of one process are separate where they are separate functions (overloads, instantiations).
 */
#ifndef SXS_REPORT_CALLS_CALLS_H
#define SXS_REPORT_CALLS_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include "session/read/calls_read.h"
#include "session/read/session_read.h"

/** One process's calls. */
struct sxs_calls_process {
    const struct sxs_session_process *process; /* borrowed from the session */
    struct sxs_calls                 *calls;   /* owned */
};

struct sxs_calls_report {
    struct sxs_calls_process *processes; /* owned */
    size_t                    n;
    char                    **problems;  /* owned lines: "123/calls: ..." */
    size_t                    n_problems;
};

/**
 * sxs_calls_report_load - the calls of every process of @session, which lies in @dir.
 * @process: a process's folder or pid; NULL: all. @out: overwritten; sxs_calls_report_free().
 * Returns 0 or an errno value. None found: n is 0.
 */
int  sxs_calls_report_load(const char *dir, const struct sxs_session *session, const char *process,
                           struct sxs_calls_report *out);
void sxs_calls_report_free(struct sxs_calls_report *r);

/** What the text shows. Zeroed: functions and the call tree of all. Strings are borrowed. */
struct sxs_calls_view {
    size_t      top;       /* functions; 0: 30 */
    unsigned    depth;     /* levels of the tree; 0: all */
    size_t      singles;   /* single calls with values; 0: 200 */
    bool        by_thread; /* a tree per thread, not one of all */
    uint32_t    runtime;   /* functions of the runtime of this number, stacks with one; 0: all */
    const char *thread;    /* a thread's id, name or pattern; NULL: all */
    const char *callers;   /* instead: callers and callees of functions whose names fit */
};

/** Functions by time or number of calls, then the call tree. */
void sxs_calls_text(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v);

/** "Namespace.Type.Method" of "Namespace.Type.Method(Param)" into @buf; returns @buf. */
const char *sxs_calls_plain_name(const char *name, char *buf, size_t size);

#endif
