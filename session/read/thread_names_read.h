/* SPDX-License-Identifier: MIT */
/**
 * thread_names_read.h - reads the file "threads" of a process (session/format/thread_names.h has the
 * format), and finds the name of a thread at a given time.
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process. Names are
 * copied as they are, so they may contain control characters and bytes that are not UTF-8.
 */
#ifndef SXS_SESSION_READ_THREAD_NAMES_READ_H
#define SXS_SESSION_READ_THREAD_NAMES_READ_H

#include "session/format/thread_names.h"
#include "session/read/chunks_follow.h"

/** A name of a thread from some time on. struct sxs_thread_name describes fields without a
 *  comment. */
struct sxs_thread_names_row {
    uint64_t time_ns, ended_ns;
    uint32_t tid;
    size_t   name; /* offset in `texts` */
};

/** A thread and its name in the kernel, as the file "samples" has it. struct sxs_record_thread describes
 *  fields without a comment. */
struct sxs_thread_names_kernel {
    uint32_t tid;
    uint64_t started_ns, ended_ns, name_ns, born_ns;
    size_t   order; /* of the record in the file */
    char     name[16];
};

/** Zeroed it is empty. */
struct sxs_thread_names {
    struct sxs_thread_names_row *rows; /* owned; by tid, then by time */
    size_t                       n, cap;
    char                        *texts; /* owned; each ends with a zero */
    size_t                       used, room;
    struct sxs_thread_names_kernel *kernel; /* owned; by tid, then by start; each thread once */
    size_t                          n_kernel, cap_kernel;
    size_t                       n_joined_kernel; /* n_kernel when the threads were joined last */
    uint32_t                     pid;  /* of the process: its first thread has this tid */
    uint64_t                     lost; /* names that found no room in the file */
};

/**
 * sxs_thread_names_read - add the names in a process's folder to @names.
 * @folder: the folder; borrowed. A file that is missing, damaged or of another format adds what
 * can be read of it, maybe nothing, and that is no failure: then threads have the names that the
 * kernel knew. Returns 0 or ENOMEM.
 */
int sxs_thread_names_read(const struct sxs_files *folder, struct sxs_thread_names *names);

/**
 * sxs_thread_names_read_all - as sxs_thread_names_read(), and add the names that threads have in the kernel
 * from the file "samples" of the folder, all of which is read. For a reader of another file, so that it
 * calls each thread as reports of samples do.
 */
int sxs_thread_names_read_all(const struct sxs_files *folder, struct sxs_thread_names *names);

/** The kind of file, for sxs_chunk_follow_open(). */
extern const struct sxs_chunk_file sxs_thread_names_kind;

/** sxs_thread_names_follow - add the names that are new in a file that a living process writes.
 *  @max_bytes: as for sxs_chunk_follow_look(). Returns how many, or -ENOMEM. */
long sxs_thread_names_follow(struct sxs_chunk_follower *file, uint64_t max_bytes,
                             struct sxs_thread_names *names);

/**
 * sxs_thread_names_of - return the name that managed code gave to the thread @tid: the last one
 * within its life, which is from @from_ns to @to_ns (0: not known, or not ended); "" if there is
 * none. @since_ns: receives since when it has it; may be NULL. Borrowed.
 */
const char *sxs_thread_names_of(const struct sxs_thread_names *names, uint32_t tid,
                                uint64_t from_ns, uint64_t to_ns, uint64_t *since_ns);

/** sxs_thread_names_join - add the names of @from. When all are added, call sxs_thread_names_joined(); before,
 *  no name can be looked up. Returns 0 or ENOMEM. */
int  sxs_thread_names_join(struct sxs_thread_names *into, const struct sxs_thread_names *from);
void sxs_thread_names_joined(struct sxs_thread_names *names);

/** sxs_thread_names_at - return what the thread that has @tid at a time is called, as
 *  sxs_thread_name_pick(). If the start and end of the thread are not known: by the name it has at that time,
 *  or, if it got its first name later, then. */
const char *sxs_thread_names_at(const struct sxs_thread_names *names, uint32_t pid, uint32_t tid,
                                uint64_t time_ns);

/** What is known of a thread's name. */
struct sxs_thread_known {
    uint32_t    tid;
    const char *kernel;         /* the name in the kernel; "": not known */
    uint64_t    kernel_ns;      /* when it was read; 0: not known */
    uint64_t    from_ns, to_ns; /* the thread's life, as for sxs_thread_names_of() */
};

/**
 * sxs_thread_name_pick - return what a thread is called, in all reports: the name that managed code
 * gave to it; or the kernel's, if managed code gave none, or if native code gave a later one; "main
 * thread" for the first thread of the process, whose name in the kernel is that of the program;
 * "thread" if nothing is known. @names: NULL: none. Borrowed from @names or @known, or static.
 */
const char *sxs_thread_name_pick(const struct sxs_thread_names *names, uint32_t pid,
                                 const struct sxs_thread_known *known);

void sxs_thread_names_free(struct sxs_thread_names *names);

#endif
