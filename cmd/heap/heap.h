/* SPDX-License-Identifier: MIT */
/**
 * heap.h - reports about heap snapshots.
 *
 * A report is about one snapshot of one process. Each runtime of the process is a graph of its own,
 * because objects of different runtimes do not refer to one another.
 */
#ifndef SXS_CMD_HEAP_HEAP_H
#define SXS_CMD_HEAP_HEAP_H

#include <stdio.h>

#include "cmd/heap/tree.h"
#include "cmd/heap/types.h"
#include "cmd/output/missing.h"

/** What is known about the objects of one runtime. */
struct sxs_heap_analysis {
    const struct sxs_heap_graph *g; /* borrowed */
    struct sxs_heap_dominators   dominators;
    struct sxs_heap_paths        paths;
    struct sxs_heap_sum         *sums;     /* by index of the type; owned */
    uint32_t                    *by_bytes; /* types by falling bytes; owned */
    struct sxs_heap_root_sum    *roots;    /* owned */
    size_t                       n_roots;
    struct sxs_heap_tree         kept;                 /* of dominators */
    struct sxs_heap_tree         reached;              /* of paths */
    uint64_t                     bytes, reached_bytes; /* of all objects, and of those reached */
};

/** One snapshot, and what of it is shown. */
struct sxs_heap_report {
    const struct sxs_heap_snapshot *s;    /* borrowed */
    struct sxs_heap_analysis       *all;  /* one for each graph; owned */
    const char                     *type; /* pattern of the types to explain; NULL: none */
    size_t                          top;  /* lines of each table in the text */
    const struct sxs_missing       *missing; /* of the session, for the first lines; borrowed; NULL: nothing */
};

/** sxs_heap_analyze - analyse all graphs of @s, which must outlive @out. */
void sxs_heap_analyze(const struct sxs_heap_snapshot *s, struct sxs_heap_report *out);
void sxs_heap_report_free(struct sxs_heap_report *r);

/** Write the report in one format. The caller checks @to for write errors (ferror). */
void sxs_heap_write_text(FILE *to, const struct sxs_heap_report *r);
void sxs_heap_write_json(FILE *to, const struct sxs_heap_report *r);
void sxs_heap_write_html(FILE *to, const struct sxs_heap_report *r);
/** sxs_heap_write_missing_json - write what is missing as a list of JSON between @before and @after; nothing when nothing
 *  is missing. */
void sxs_heap_write_missing_json(FILE *to, const char *before, const struct sxs_missing *m,
                                 const char *after);
/** sxs_heap_page_policy - as sxs_page_policy() (cmd/report/page_data.h), for the page of html. */
const char *sxs_heap_page_policy(void);
/** The format of the memory panel of Chrome's DevTools; needs only the snapshot. */
void sxs_heap_write_heapsnapshot(FILE *to, const struct sxs_heap_snapshot *s);

/** A path by which objects of a type are reached: a node of the tree of paths. */
struct sxs_heap_way {
    uint32_t node;
    uint64_t n, bytes; /* objects that are reached by it */
};

/** sxs_heap_ways - list how the objects of the type @type are reached, by falling bytes.
 *  @n: receives their number. Owned list. */
struct sxs_heap_way *sxs_heap_ways(const struct sxs_heap_analysis *a, uint32_t type, size_t *n);

/** sxs_heap_lacking_text - return what one bit of enum sxs_heap_lacking means; NULL: nothing. */
const char *sxs_heap_lacking_text(uint64_t bit);

#endif
