/* SPDX-License-Identifier: MIT */
/**
 * tree.h - merge the calls of one process into one tree: equal paths of different threads share a
 * node.
 */
#ifndef SXS_CMD_CALLS_TREE_H
#define SXS_CMD_CALLS_TREE_H

#include "base/index.h"
#include "cmd/calls/calls.h"

struct sxs_calls_tree_node {
    uint32_t parent;  /* index; SXS_CALLS_NONE: a root */
    uint32_t fn;      /* index of a function; SXS_CALLS_NONE: a root */
    uint32_t thread;  /* index, in a root of one thread; else SXS_CALLS_NONE */
    bool     awaits;  /* as in struct sxs_calls_path */
    bool     shown;   /* a function of the selected runtime is here, above or below */
    bool     repeats; /* another node of the same function is on the path to this node */
    bool     edge_repeats; /* and that other node is called by the same function, too */
    uint64_t calls, total_ns, self_ns;
    uint32_t first, n; /* children: order[first] to order[first + n - 1], heaviest first */
};

struct sxs_calls_tree {
    const struct sxs_calls_process *p; /* borrowed */
    struct sxs_calls_tree_node     *nodes; /* owned; a parent always comes before its children */
    uint32_t                       *order; /* owned; node indexes, grouped by parent */
    size_t                          n, cap, n_roots; /* the first n_roots nodes are roots */
    struct sxs_index                index;           /* by parent and function, while building */
};

/**
 * sxs_calls_tree_build - build the call tree of process @p.
 * @v: selects threads and a runtime; with v->by_thread each thread has a root of its own.
 * @out: overwritten; call sxs_calls_tree_free() even after an error.
 * Returns 0 or ENOMEM.
 */
int  sxs_calls_tree_build(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                          struct sxs_calls_tree *out);
void sxs_calls_tree_free(struct sxs_calls_tree *t);

/**
 * sxs_calls_thread_wanted - return true when @t is the requested thread.
 * @wanted: a thread's id, its name or a pattern of names; NULL requests all threads.
 */
bool sxs_calls_thread_wanted(const struct sxs_calls_read_thread *t, const char *wanted);

/** sxs_calls_callers - write callers and callees of the functions whose names match v->callers. */
void sxs_calls_callers(FILE *to, const struct sxs_calls_report *r, const struct sxs_calls_view *v);

/** sxs_calls_tree_text - write the call tree of process @p. */
void sxs_calls_tree_text(FILE *to, const struct sxs_calls_process *p,
                         const struct sxs_calls_view *v);

#endif
