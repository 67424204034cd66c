/* SPDX-License-Identifier: MIT */
/**
 * coverage_gaps.h - lists the functions that the recorded calls of a process cover in part or not at all,
 * with the reasons.
 */
#ifndef SXS_CMD_CALLS_COVERAGE_GAPS_H
#define SXS_CMD_CALLS_COVERAGE_GAPS_H

#include <jansson.h>

#include "cmd/calls/calls.h"

/** Kinds of coverage gaps, in the order of the report. */
enum sxs_gap_kind {
    SXS_GAP_PATTERN,     /* a pattern that matches no function */
    SXS_GAP_ATTACHED,    /* a runtime without hooks: it ran before the tool was loaded */
    SXS_GAP_SETTINGS,    /* settings of a runtime */
    SXS_GAP_LOST,        /* functions not hooked because memory ran out */
    SXS_GAP_TAIL_LATE,   /* a function with calls whose end after a tail call no hook saw */
    SXS_GAP_TAIL_LOOP,   /* a function whose calls end when a chain of tail calls begins again */
    SXS_GAP_TAIL_LEFT,   /* a function with calls that ended in a tail call */
    SXS_GAP_TAIL_CALLED, /* a function that was called by a tail call */
    SXS_GAP_UNTIMED,     /* a function that is counted but no longer timed */
    SXS_GAP_INLINED,     /* a function that may have been inlined */
    SXS_GAP_KEPT,        /* functions that the tool kept from being inlined */
    SXS_GAP_RECOMPILED,  /* functions compiled more than once */
    SXS_GAP_INTRINSIC,   /* a method that the JIT may replace by instructions */
    SXS_GAP_DYNAMIC,     /* a dynamic method */
    SXS_GAP_STUB,        /* a stub that the runtime generated */
    SXS_GAP_NATIVE,      /* a P/Invoke */
    SXS_GAP_RUNTIME,     /* a method that the runtime implements */
    SXS_GAP_ABSTRACT,
    SXS_GAP_NEVER,    /* a method that was never compiled */
    SXS_GAP_UNLISTED, /* notes that did not fit into the file */
    SXS_GAP_KINDS
};

struct sxs_gap {
    enum sxs_gap_kind    kind;
    uint32_t             runtime; /* the runtime's number; 0: no particular runtime */
    char                *name;    /* owned; "" when the row is only a count */
    char                *detail;  /* owned; "" when the kind says everything */
    uint64_t             count;   /* its meaning depends on the kind */
};

struct sxs_gap_list {
    struct sxs_gap    *all; /* owned; by kind, then runtime, then count, highest first */
    size_t             n, cap;
};

/**
 * sxs_gaps_collect - collect the coverage gaps of process @p.
 * @out: overwritten; call sxs_gaps_free() even after an error.
 * Returns 0 or ENOMEM.
 */
int  sxs_gaps_collect(const struct sxs_calls_process *p, struct sxs_gap_list *out);
void sxs_gaps_free(struct sxs_gap_list *list);

/** sxs_gap_why - return the text that explains a kind, for all of its rows. Static. */
const char *sxs_gap_why(enum sxs_gap_kind kind);
/** sxs_gap_is_counted - return true when rows of @kind are printed with their counts. */
bool sxs_gap_is_counted(enum sxs_gap_kind kind);

/**
 * sxs_gaps_group - return how many rows, from index @from on, have the kind and runtime of row
 * @from.
 */
size_t sxs_gaps_group(const struct sxs_gap_list *list, size_t from);
/**
 * sxs_gaps_sum - return the total of a group of @n rows, or 0 when the group has no total.
 * Rows with names count 1 each; a row without a name has a count of its own.
 */
uint64_t sxs_gaps_sum(const struct sxs_gap *group, size_t n);

/** sxs_gap_no_match - return the reason why @pattern matches nothing. Static. */
const char *sxs_gap_no_match(const struct sxs_calls_read_note *pattern);

/** sxs_gaps_warn - write one warning line for each pattern that matches nothing. */
void sxs_gaps_warn(FILE *to, const struct sxs_calls_process *p);

/**
 * sxs_gaps_text - write the section "not seen" of the text report for process @p.
 * @v: the runtime to show and the number of rows per group (0: 20).
 */
void sxs_gaps_text(FILE *to, const struct sxs_calls_process *p, const struct sxs_calls_view *v);

/**
 * sxs_gaps_json - add the key "unseen", with the coverage gaps of all processes, to @top. Returns
 * 0 or -1.
 */
int sxs_gaps_json(json_t *top, const struct sxs_calls_report *calls);

#endif
