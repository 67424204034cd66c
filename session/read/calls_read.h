/* SPDX-License-Identifier: MIT */
/**
 * calls_read.h - reads the file "calls" of a process (session/format/calls.h has the format).
 *
 * The file is untrusted: it may be cut, damaged, or still be written to. It is first copied into
 * memory. Then every reference is checked, and no list or tree is followed in a circle.
 */
#ifndef SXS_SESSION_READ_CALLS_READ_H
#define SXS_SESSION_READ_CALLS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/calls.h"
#include "session/read/thread_names_read.h"

#define SXS_CALLS_NONE    UINT32_MAX
#define SXS_CALLS_BUCKETS (SXS_CALLS_OCTAVES * 8)

/** A hooked function. struct sxs_calls_function describes fields without a comment. */
struct sxs_calls_read_function {
    char    *name, *file; /* owned */
    uint32_t runtime, token, compiled;
    uint32_t inlining;    /* number of times the JIT asked whether it may be inlined */
    uint64_t id;          /* FunctionID */
    bool     backed_off;
    uint32_t  tail_left, tail_called, tail_late, tail_looped;
    uint64_t first_ns;    /* time of the first compilation, since the header's started_ns */
    uint64_t calls, unwound, total_ns, self_ns; /* all threads; total_ns: recursion counted once */
    uint64_t min_ns, max_ns;   /* shortest and longest call; 0: not timed */
    uint64_t *buckets; /* owned, SXS_CALLS_BUCKETS counts; NULL: not timed */
};

/** A node of a thread's tree. In sxs_calls.paths a parent always comes before its children. */
struct sxs_calls_path {
    uint32_t parent; /* index of a path; SXS_CALLS_NONE: this is a thread's root */
    uint32_t fn;     /* index of a function; SXS_CALLS_NONE: this is a thread's root */
    uint32_t thread; /* index of a thread */
    uint32_t depth;  /* number of paths above it; 0: this is a thread's root */
    uint64_t calls, unwound;
    uint64_t total_ns, self_ns; /* a call in progress counts up to the file's last clock reading */
    bool     active;            /* a call was in progress */
    bool     awaits; /* not called here: the method awaits the paths below; its calls are counted
                      * in another path */
};

/** The beginning (SXS_CALLS_ENTER) or the end of a single call. */
struct sxs_calls_read_event {
    uint64_t ns;   /* since the header's started_ns; never less than that of the previous event */
    uint32_t path; /* index of a path */
    uint32_t kind; /* enum sxs_calls_event_kind */
};

/** The values of an event: the arguments at a call's beginning, or the result at its end. */
struct sxs_calls_text {
    size_t event;  /* index of the event */
    char  *text;   /* owned */
};

/** A thread. struct sxs_calls_thread describes fields without a comment. */
struct sxs_calls_read_thread {
    uint32_t tid, root; /* root: index of its root path */
    char     kernel[16]; /* its name in the kernel */
    const char
            *name; /* what it is called, never NULL; borrowed from `kernel` or struct sxs_calls */
    bool     ended;
    uint64_t started_ns, ended_ns; /* since the header's started_ns. ended_ns of a thread that has
                                    * not ended: the file's last clock reading */
    uint64_t runtimes;             /* bit N: the thread has run code of runtime number N */
    uint64_t nodes_lost, too_deep, unmatched, unwound, stale;
    struct sxs_calls_read_event *events; /* owned; traced calls, if they were recorded */
    size_t                       n_events, cap_events;
    struct sxs_calls_text       *texts; /* owned; ordered by event */
    size_t   n_texts, cap_texts;
    uint64_t events_lost, values_lost;
};

/** A note on functions that are not instrumented. struct sxs_calls_note describes its fields. */
struct sxs_calls_read_note {
    uint32_t kind, runtime;
    uint32_t fn; /* index of a function; SXS_CALLS_NONE: none */
    uint64_t count, more;
    char    *text; /* owned; zero-terminated */
    size_t   size; /* bytes before the terminating zero */
};

struct sxs_calls {
    struct sxs_calls_header head; /* copy of the header, its command zero-terminated */
    double                  ns_per_tick;
    uint64_t                duration_ns; /* from the start to the file's last clock reading */
    struct sxs_calls_read_function *fns;
    struct sxs_calls_path  *paths;
    struct sxs_calls_read_thread   *threads; /* in the order of the file: the latest first */
    size_t                  n_fns, n_paths, n_threads;
    struct sxs_calls_read_note     *notes; /* owned */
    size_t                          n_notes;
    char                  **problems; /* owned lines: the damage in the file */
    size_t                  n_problems;
    struct sxs_thread_names         names;
};

/**
 * sxs_calls_read - read the file "calls" in a process's folder.
 * @folder: the folder; borrowed.
 * @out: receives the undamaged data, owned by the caller; free it by sxs_calls_free(). NULL after a
 *   failure.
 * @why: receives one line about a failure, at most @why_size bytes.
 * Returns 0, ENOENT when the process has no such file, EINVAL when the file has another format, or
 * another errno value. Damage is reported in (*out)->problems. Follows no symbolic link.
 */
int sxs_calls_read(const struct sxs_files *folder, struct sxs_calls **out, char *why,
                   size_t why_size);

/** sxs_calls_bucket_ns - return the middle of the durations of bucket @i, in ns. */
uint64_t sxs_calls_bucket_ns(const struct sxs_calls *c, unsigned i);

/** Free the result of sxs_calls_read(); NULL is allowed. */
void sxs_calls_free(struct sxs_calls *c);

/**
 * sxs_calls_quantile - return the duration that the share @q (0 to 1) of a function's calls do not
 * exceed, in ns, with an error of at most an eighth. Returns 0 when the function was not timed.
 * Calls that an exception left are not included.
 */
uint64_t sxs_calls_quantile(const struct sxs_calls *c, const struct sxs_calls_read_function *fn,
                            double q);

#endif
