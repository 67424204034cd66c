/* SPDX-License-Identifier: MIT */
/**
 * calls_read.h - read a process's file "calls" back (calls.h has its bytes).
 *
 * The file is taken as untrusted: cut, garbled, or still written to. It is read into memory first;
 * every reference is checked, no list or tree is followed in a circle.
 */
#ifndef SXS_RECORD_CALLS_READ_H
#define SXS_RECORD_CALLS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "session/format/calls.h"

#define SXS_CALLS_NONE    UINT32_MAX
#define SXS_CALLS_BUCKETS (SXS_CALLS_OCTAVES * 8)

struct sxs_calls_fn {
    char    *name, *file; /* owned */
    uint32_t runtime, token, compiled;
    uint32_t inlining;    /* times the JIT asked whether it may be inlined */
    uint64_t id;          /* FunctionID */
    bool     backed_off;
    uint64_t first_ns;    /* since the header's started_ns */
    uint64_t calls, unwound, total_ns, self_ns; /* all threads; total: recursion once */
    uint64_t min_ns, max_ns;   /* of one call; 0: not timed */
    uint64_t *buckets;    /* owned, SXS_CALLS_BUCKETS; NULL: not timed */
};

/** A node. A parent always comes before its children. */
struct sxs_calls_path {
    uint32_t parent; /* index; SXS_CALLS_NONE: a thread's root */
    uint32_t fn;     /* index; SXS_CALLS_NONE: a thread's root */
    uint32_t thread; /* index */
    uint32_t depth;  /* paths above it; 0: a thread's root */
    uint64_t calls, unwound;
    uint64_t total_ns, self_ns; /* calls still under way counted up to the last word of the file */
    bool     active; /* a call was under way */
    bool     awaits; /* no call: the method awaits what lies below; another path has its calls */
};

/** A call began (SXS_CALLS_ENTER) or ended. */
struct sxs_calls_moment {
    uint64_t ns;   /* since the header's started_ns; not before the one before it */
    uint32_t path; /* index */
    uint32_t kind; /* enum sxs_calls_event_kind */
};

/** Values that belong to a moment: arguments where a call began, its result where it ended. */
struct sxs_calls_text {
    size_t moment; /* index */
    char  *text;   /* owned */
};

struct sxs_calls_thr {
    uint32_t tid, root; /* root: index of its path */
    char     name[16];
    bool     ended;
    uint64_t started_ns, ended_ns; /* since the header's started_ns; ended: or last seen */
    uint64_t runtimes;  /* bit N: runtime number N */
    uint64_t nodes_lost, too_deep, unmatched, unwound, stale;
    struct sxs_calls_moment *moments; /* owned; single calls, when they were recorded */
    size_t   n_moments, cap_moments;
    struct sxs_calls_text *texts; /* owned, by moment */
    size_t   n_texts, cap_texts;
    uint64_t events_lost, values_lost;
};

/** A note on what is not seen: calls.h tells what its fields mean. */
struct sxs_calls_remark {
    uint32_t kind, runtime;
    uint32_t fn;   /* index; SXS_CALLS_NONE: of none */
    uint64_t count, more;
    char    *text; /* owned; with a zero behind it */
    size_t   size; /* bytes before that zero */
};

struct sxs_calls {
    struct sxs_calls_header head; /* its command zero-terminated */
    double                  ns_per_tick;
    uint64_t                duration_ns; /* from start to the last word */
    struct sxs_calls_fn    *fns;
    struct sxs_calls_path  *paths;
    struct sxs_calls_thr   *threads; /* by start */
    size_t                  n_fns, n_paths, n_threads;
    struct sxs_calls_remark *remarks; /* owned */
    size_t                  n_remarks;
    char                  **problems; /* owned lines */
    size_t                  n_problems;
};

/**
 * sxs_calls_read - read the file "calls" in a process's folder.
 * @folder_fd: the folder; borrowed. @out: receives what is whole, owned by the caller:
 * sxs_calls_free(); NULL on failure. @why: one line about a failure.
 * Returns 0, ENOENT when the process has none, EINVAL when the file is none of ours, or another errno
 * value. Damage is told of in (*out)->problems. Follows no link.
 */
int sxs_calls_read(int folder_fd, struct sxs_calls **out, char *why, size_t why_size);

/** sxs_calls_bucket_ns - the middle of bucket @i, ns. */
uint64_t sxs_calls_bucket_ns(const struct sxs_calls *c, unsigned i);

/** Releases it; NULL is fine. */
void sxs_calls_free(struct sxs_calls *c);

/**
 * sxs_calls_quantile - the duration that @q (0 to 1) of a function's calls do not exceed, ns; within
 * an eighth of itself. 0: not timed. Calls that an exception left are not in it.
 */
uint64_t sxs_calls_quantile(const struct sxs_calls *c, const struct sxs_calls_fn *fn, double q);

#endif
