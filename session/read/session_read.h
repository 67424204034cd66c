/* SPDX-License-Identifier: MIT */
/**
 * session_read.h - reads the files "census" of a session folder (session/format/session.h has the
 * format).
 *
 * Everything below a session folder is untrusted: files may be cut, damaged, replaced by links or
 * pipes, or still be written. Undamaged data are kept; damage is reported in a message.
 */
#ifndef SXS_SESSION_READ_SESSION_READ_H
#define SXS_SESSION_READ_SESSION_READ_H

#include "base/held.h"
#include "session/format/session.h"

#include <stdbool.h>

/** One runtime when the folder was read: a copy of struct sxs_census_runtime without atomics. */
struct sxs_session_runtime {
    uint32_t       number;
    enum sxs_state state; /* never SXS_STATE_NONE */
    uint64_t       modules, methods, threads, gcs, exceptions, signals, errors;
    uint64_t       started_ns, ended_ns; /* CLOCK_REALTIME; ended_ns 0: no Shutdown so far */
    char           version[64];
    char           path[512];
};

#define SXS_SESSION_FOLDER 256 /* bytes of the name of a process's folder */

/** One recorded process. */
struct sxs_session_process {
    uint32_t pid;
    char     folder[SXS_SESSION_FOLDER]; /* name of its folder: the pid, possibly followed by "-2",
                                          * "-3"... */
    size_t   n_parts; /* 0: all files are in `folder`. Else it was joined of several sessions
                       * (cmd/output/segments.h), `folder` is only a name, and these folders, in
                       * order of time, have the files: */
    char (*parts)[SXS_SESSION_FOLDER];      /* owned; paths below the folder of the session */
    uint64_t                    started_ns; /* CLOCK_REALTIME of its first runtime */
    bool                        preloaded;  /* the signal library was preloaded */
    bool                        signals_off;
    bool                        has_children; /* forked children had no memory: they are counted here */
    bool                        held; /* the process marks its census as in use while it records */
    uint16_t                    mask; /* enum sxs_mask (base/mask.h) */
    uint64_t                    signals_unwanted;
    uint32_t                    n_unlisted; /* runtimes beyond SXS_MAX_RUNTIMES */
    char                        command[1024];
    size_t                      n_runtimes;
    struct sxs_session_runtime *runtimes; /* owned; ordered by number */
};

/** A period of time, CLOCK_REALTIME. Zeroed it is all time. */
struct sxs_period {
    uint64_t from_ns, to_ns; /* to_ns: after the last; 0: no end */
};

/** sxs_period_has - return true when @at_ns (CLOCK_REALTIME) is in the period. Pure. */
static inline bool sxs_period_has(const struct sxs_period *p, uint64_t at_ns)
{
    return at_ns >= p->from_ns && (!p->to_ns || at_ns < p->to_ns);
}

/** sxs_period_is_all - return true when it is all time. Pure. */
static inline bool sxs_period_is_all(const struct sxs_period *p)
{
    return !p->from_ns && !p->to_ns;
}

/** Limits of a session in memory, far above what a run of tests or a machine's services makes. Further
 *  processes are counted, and further runtimes are counted as unlisted ones of their process. */
#define SXS_SESSION_MAX_PROCESSES 4096u
#define SXS_SESSION_MAX_RUNTIMES  16384u

/** A session: its processes ordered by start time, and one message for each piece of damage. */
struct sxs_session {
    size_t                      n_processes;
    struct sxs_session_process *processes; /* owned */
    size_t                      n_notes;
    char **notes; /* owned lines without newline: "123/log: ...", what the library had to say.
                                          * They belong to the first lines of each report */
    size_t                      n_problems;
    char                      **problems; /* owned lines without newline: "123/census: ..." */
    size_t                      n_unread;
    struct sxs_session_process *unread; /* owned; processes without a readable census: only `folder`
                                         * and `pid` are set */
    size_t            n_left_out;       /* processes beyond SXS_SESSION_MAX_PROCESSES: those with
                                             * the highest numbers; a message says so, too */
    size_t            n_runtimes;       /* of all processes together */
    struct sxs_period           period; /* the part of the session to show; set by the caller */
};

/**
 * sxs_session_read - read every <pid>/census below @dir.
 * @out: overwritten; pass it to sxs_session_free() after a failure, too.
 * Returns 0, or an errno value when @dir cannot be opened as a folder or memory ran out. A damaged
 * file is not an error; it is reported in out->problems. Of more than SXS_SESSION_MAX_PROCESSES
 * folders, those with the lowest numbers are read. Follows no symbolic link below @dir and does not
 * block. Any thread; not signal-safe.
 */
int sxs_session_read(const char *dir, struct sxs_session *out);

/**
 * sxs_session_read_one - read the census of one process.
 * @dir_fd: the session's folder; borrowed. @folder: name of the process's folder. @out: as for
 * sxs_session_read(), with at most one process. Returns 0 or ENOMEM; damage is in out->problems.
 */
int sxs_session_read_one(int dir_fd, const char *folder, struct sxs_session *out);

/**
 * sxs_session_is_held - tell whether process @p of the session in @dir still records, by the mark of its
 * census (base/held.h). Works across PID namespaces, where the number of the process means another one or
 * none. SXS_HELD_UNKNOWN: the library could not set a mark (it needs a descriptor table of its own), or
 * the file cannot be opened.
 */
enum sxs_held sxs_session_is_held(const char *dir, const struct sxs_session_process *p);

/** sxs_session_left_out - write how many processes were left out, "60904 processes are left out: ...", into
 *  @buf. Returns @buf, or NULL if none was. */
const char *sxs_session_left_out(const struct sxs_session *s, char *buf, size_t size);

/** sxs_session_free - free the contents that sxs_session_read() filled in; a zeroed @s is
 *  allowed. */
void sxs_session_free(struct sxs_session *s);

/** sxs_session_names_process - return true when @name has the form of the name of a process's
 *  folder: "123" or "123-2". */
bool sxs_session_names_process(const char *name);

#endif
