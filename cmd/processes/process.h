/* SPDX-License-Identifier: MIT */
/**
 * process.h - reads facts about a running process: its .NET runtimes, the profilers in it, its
 * user, its container. Read from /proc; the process is not touched.
 */
#ifndef SXS_CMD_PROCESSES_PROCESS_H
#define SXS_CMD_PROCESSES_PROCESS_H

#include "cmd/processes/identity.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** How a runtime is present. */
enum sxs_runtime_kind {
    SXS_RUNTIME_CORECLR,     /* a libcoreclr.so */
    SXS_RUNTIME_SINGLE_FILE, /* linked into the program: a single-file app */
    SXS_RUNTIME_NATIVE_AOT,  /* compiled ahead of time: has no profiling interface */
};

struct sxs_process_runtime {
    enum sxs_runtime_kind kind;
    bool                  deleted;     /* the file is not there any more, or is another one */
    char                  version[64]; /* "8.0.29"; "": not known */
    char                 *path;        /* owned; as the process sees it */
};

/** A library that exports DllGetClassObject, so it can be a profiler. */
struct sxs_process_profiler {
    bool  ours;    /* libsxsprof.so */
    bool  deleted; /* as above */
    char *path;    /* owned; as the process sees it */
};

/** Which namespaces are others than those of this command. */
struct sxs_process_namespaces {
    bool mnt, pid, net, user;
    bool root; /* same mount namespace, but another root folder (chroot) */
};

/** What a message says of a process that was examined in part, after what is not known of it for that reason. */
#define SXS_PROCESS_PARTLY                                                                         \
    "not all of its files could be examined, because they are too many, do not answer, or have "   \
    "changed"

struct sxs_process {
    int   dir;  /* descriptor of /proc/PID, which never refers to another process; -1: closed */
    int   root; /* of its root folder; -1: closed, or not permitted */
    pid_t pid, ns_pid;                  /* as this command sees it; as the process itself does */
    struct sxs_identity identity;       /* as it was when everything else was read */
    uint64_t            start_ticks;    /* that of the identity */
    uint64_t            started_ns;     /* CLOCK_REALTIME */
    uid_t               uid;            /* effective, of the identity */
    gid_t               gid;            /* effective, of the identity */
    char                state;          /* of /proc/PID/stat: R, S, T (stopped)... */
    char                name[17];       /* comm */
    char                command[1024];  /* arguments separated by blanks, cut; "": none */
    char                user[64];       /* name of the user, or its number */
    char                container[160]; /* "docker 0123456789ab"; "": none that is known */
    int                 problem;        /* errno value: the mappings could not be read (EACCES) */
    bool                partly;    /* not all of its files were examined: they are too many, took
                                         * too long, or are not those any more that their paths name */
    bool                musl;      /* has musl's loader instead of glibc's */
    bool                allocator; /* has libsxsprof-malloc.so */
    struct sxs_process_namespaces other;
    struct sxs_process_runtime   *runtimes; /* owned */
    size_t                        n_runtimes;
    struct sxs_process_profiler  *profilers; /* owned */
    size_t                        n_profilers;
};

/**
 * sxs_process_read - read what is known of process @pid. The process had the same identity before and
 * after.
 * @out: release with sxs_process_free(), also after a failure. The descriptors stay open.
 * Returns 0 or an errno value: ESRCH when there is no such process, EAGAIN when the process changes
 * its program or its user again and again, ENOMEM. A process whose mappings may not be read is no
 * failure: see out->problem.
 */
int sxs_process_read(pid_t pid, struct sxs_process *out);

void sxs_process_free(struct sxs_process *p);

/** sxs_process_close - close the descriptors, to hold many processes. */
void sxs_process_close(struct sxs_process *p);

/** sxs_process_lives - return true while the very process runs that was read: no zombie, and no
 *  other process with its PID. p->dir must be open. Sets p->state. */
bool sxs_process_lives(struct sxs_process *p);

/** sxs_process_is_same - return true while the process has the identity with which it was read. p->dir
 *  must be open. */
bool sxs_process_is_same(const struct sxs_process *p);

/**
 * sxs_process_has_program - return false when the process is ending: each of its threads has given up its memory, or
 * will do so the next time that it is in the kernel. It may be listed for long after that: while a debugger traces
 * one of its threads, a thread waits for a disk, or nobody waits for the process. A thread may still end a system
 * call, or compute for a moment on another processor.
 * True when that cannot be seen. p->dir must be open.
 */
bool sxs_process_has_program(const struct sxs_process *p);

/** sxs_process_is_apart - return true when paths of the process are not paths of this command. */
bool sxs_process_is_apart(const struct sxs_process *p);

/** sxs_process_find_profilers - add the profilers to p->profilers that were loaded since they were read.
 *  Returns 0 or ENOMEM. */
int sxs_process_find_profilers(struct sxs_process *p);

/** sxs_process_own_profiler - return the entry of libsxsprof.so, or NULL. Borrowed. */
const struct sxs_process_profiler *sxs_process_own_profiler(const struct sxs_process *p);

/**
 * sxs_process_variable - find a variable in the environment with which the process was started.
 * @value: receives it, @size bytes, cut.
 * Returns 0, or an errno value: ENOENT when it is not set, EFBIG when the environment has more than
 * 4 MiB.
 */
int sxs_process_variable(const struct sxs_process *p, const char *name, char *value, size_t size);

/** sxs_process_file - write the path of @path, a path of the process, as this command can open it
 *  ("/proc/PID/root/..."). */
void sxs_process_file(const struct sxs_process *p, const char *path, char out[PATH_MAX]);

/** How much memory a list of processes takes at most. */
#define SXS_PROCESS_LIST_BYTES ((size_t)32 << 20)

struct sxs_process_list {
    struct sxs_process *items; /* ascending by PID */
    size_t              n;
    size_t              n_unreadable; /* processes of others whose mappings may not be read */
    size_t              n_partly;     /* processes that were examined in part; also those that are
                                       * not among the items */
    size_t              n_left_out;   /* processes with runtimes for which there was no room */
    size_t              bytes;        /* of memory that the items take */
};

/** sxs_process_filter - return true when @name names the process, of which only name, command and PIDs are
 *  known. sxs_process_named() is one. */
typedef bool sxs_process_filter(const struct sxs_process *p, const char *name);

/**
 * sxs_process_list_read - find the processes that have runtimes, and those whose threads are named
 * as those of runtimes but which may not be read (problem: EACCES).
 * @named: leaves out, before anything else of them is read, processes that @name does not name; NULL: none.
 * Returns 0 or an errno value.
 */
int  sxs_process_list_read(struct sxs_process_list *out, sxs_process_filter *named,
                           const char *name);
void sxs_process_list_free(struct sxs_process_list *list);

#endif
