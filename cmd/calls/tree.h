/* SPDX-License-Identifier: MIT */
/** tree.h - the calls of one process as one tree: equal paths of its threads are one node. */
#ifndef SXS_REPORT_CALLS_TREE_H
#define SXS_REPORT_CALLS_TREE_H

#include "cmd/calls/calls.h"

struct sxs_calls_tree_node {
    uint32_t parent;  /* index; SXS_CALLS_NONE: a root */
    uint32_t fn;      /* index of a function; SXS_CALLS_NONE: a root */
    uint32_t thread;  /* index, of a root by thread; else SXS_CALLS_NONE */
    bool     awaits;  /* see sxs_calls_path */
    bool     shown;   /* the runtime asked for is on the path or further on */
    bool     repeats; /* it is below another node of the same function */
    bool     edge_repeats; /* and the two are called by the same function */
    uint64_t calls, total_ns, self_ns;
    uint32_t first, n; /* children: sxs_calls_tree.order[first...], heaviest first */
};

struct sxs_calls_tree {
    const struct sxs_calls_process *p; /* borrowed */
    struct sxs_calls_tree_node     *nodes; /* owned; a parent always comes before its children */
    uint32_t                       *order; /* owned */
    size_t                          n, cap, n_roots; /* the roots come first */
    uint32_t                       *slots; /* private while building */
    size_t                          n_slots;
};

/**
 * sxs_calls_tree_build - @v: threads and runtime wanted; by_thread: a root for each thread.
 * Returns 0 or ENOMEM; sxs_calls_tree_free() whatever is returned.
 */
int  sxs_calls_tree_build(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                          struct sxs_calls_tree *out);
void sxs_calls_tree_free(struct sxs_calls_tree *t);

/** Is @t the thread that was asked for: its id, name, or a pattern of names? NULL: all are. */
bool sxs_calls_thread_wanted(const struct sxs_calls_thr *t, const char *wanted);

/** Callers and callees of the functions whose names fit v->callers. */
void sxs_calls_callers(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v);

/** The call tree of a process. */
void sxs_calls_tree_text(FILE *to, const struct sxs_calls_process *p,
                         const struct sxs_calls_view *v);

#endif
