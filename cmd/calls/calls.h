/* SPDX-License-Identifier: MIT */
/**
 * calls.h - load the files "calls" of a session and report the counted calls.
 *
 * A session is loaded once, with every process that has a file "calls". Functions that share a name
 * within one runtime of one process (overloads, instantiations) stay separate.
 */
#ifndef SXS_CMD_CALLS_CALLS_H
#define SXS_CMD_CALLS_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/output/opened.h"
#include "session/read/calls_read.h"

/** The calls of one process. */
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
 * sxs_calls_report_load - load the file "calls" of every process of a session.
 * @v: must outlive @out. @process: a process's folder or pid;
 * NULL loads all processes. @out: overwritten; release it with sxs_calls_report_free().
 * Returns 0 or an errno value. When no process has a file "calls", the result is 0 and @out->n is
 * 0.
 */
int sxs_calls_report_load(const struct sxs_opened *v, const char *process,
                          struct sxs_calls_report *out);
/** sxs_calls_report_reader - return a reader for sxs_opened_read() that does the same. */
struct sxs_opened_reader sxs_calls_report_reader(struct sxs_calls_report *out);
void sxs_calls_report_free(struct sxs_calls_report *r);

/**
 * What sxs_calls_text() shows. A zeroed object selects functions and one call tree of all threads.
 * Strings are borrowed.
 */
struct sxs_calls_view {
    size_t      top;       /* rows of functions; 0: 30 */
    unsigned    depth;     /* levels of the tree; 0: all */
    size_t      trace_entries; /* traced calls with values; 0: 200 */
    bool        by_thread; /* one tree per thread instead of one for all */
    uint32_t    runtime;   /* functions of this runtime (number), stacks with one; 0: all */
    const char *thread;    /* a thread's id, name or pattern of names; NULL: all */
    const char *callers;   /* pattern: show only callers and callees of matching functions */
};

/**
 * sxs_calls_text - write functions by time or number of calls, the call tree, coverage gaps and
 * traced calls to @to.
 */
void sxs_calls_text(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v);

/**
 * sxs_calls_plain_name - copy @name, "Namespace.Type.Method(Param)", without its parameters to @buf
 * of @size bytes. Returns @buf.
 */
const char *sxs_calls_plain_name(const char *name, char *buf, size_t size);

#endif
