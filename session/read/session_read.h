/* SPDX-License-Identifier: MIT */
/**
 * session_read.h - read a session folder back (session.h has its bytes).
 *
 * Everything below a session folder is taken as untrusted: files may be cut, garbled, replaced by
 * links or pipes, or still being written. What is whole is kept, what is not is named in a message.
 */
#ifndef SXS_RECORD_SESSION_READ_H
#define SXS_RECORD_SESSION_READ_H

#include "session/format/session.h"

#include <stdbool.h>

/** One runtime as it was when the folder was read. Plain copies of struct sxs_census_runtime. */
struct sxs_session_runtime {
    uint32_t       number;
    enum sxs_state state; /* never SXS_STATE_NONE */
    uint64_t       modules, methods, threads, gcs, exceptions, signals, errors;
    uint64_t       started_ns, ended_ns; /* CLOCK_REALTIME; ended_ns 0: no Shutdown seen */
    char           version[64];
    char           path[512];
};

/** One recorded process. */
struct sxs_session_process {
    uint32_t pid;
    char     folder[256]; /* its folder's name: the pid, perhaps with "-2" */
    uint64_t started_ns; /* CLOCK_REALTIME of its first runtime */
    bool     preloaded;  /* the signal library was preloaded */
    bool     signals_off;
    uint64_t signals_unwanted;
    uint32_t n_unlisted; /* runtimes beyond SXS_MAX_RUNTIMES */
    char     command[1024];
    size_t   n_runtimes;
    struct sxs_session_runtime *runtimes; /* owned, by number */
};

/** A session: processes by start time, and one message for everything that was not whole. */
struct sxs_session {
    size_t                      n_processes;
    struct sxs_session_process *processes; /* owned */
    size_t                      n_problems;
    char                      **problems; /* owned lines without newline: "123/census: ..." */
    size_t                      n_unread;
    struct sxs_session_process *unread; /* owned: no census to be had, only `folder` and `pid` */
};

/**
 * sxs_session_read - read every <pid>/census below @dir.
 * @out: overwritten; give it to sxs_session_free() whatever is returned.
 * Returns 0, or an errno value when @dir cannot be opened as a folder or memory ran out. A damaged
 * file is no error: it is told of in @out->problems. Follows no symbolic link below @dir and blocks
 * on nothing. Any thread; not signal-safe.
 */
int sxs_session_read(const char *dir, struct sxs_session *out);

/** sxs_session_free - release what sxs_session_read() filled in; a zeroed object is fine. */
void sxs_session_free(struct sxs_session *s);

/** sxs_session_names_process - true when @name is one of a process's folder: "123" or "123-2". */
bool sxs_session_names_process(const char *name);

#endif
