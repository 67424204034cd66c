/* SPDX-License-Identifier: MIT */
/**
 * coverage_gaps.h - which functions the recorded calls of a process cover in part or not at all,
 * and why.
 */
#ifndef SXS_CMD_CALLS_COVERAGE_GAPS_H
#define SXS_CMD_CALLS_COVERAGE_GAPS_H

#include <jansson.h>

#include "cmd/calls/calls.h"

/** Kinds of coverage gaps, in the order of the report. */
enum sxs_unseen_kind {
    SXS_UNSEEN_PATTERN,    /* a pattern that matches no function */
    SXS_UNSEEN_ATTACHED,   /* a runtime without hooks: it ran before the tool was loaded */
    SXS_UNSEEN_SETTINGS,   /* settings of a runtime */
    SXS_UNSEEN_LOST,       /* functions not hooked because memory ran out */
    SXS_UNSEEN_UNTIMED,    /* a function that is counted but no longer timed */
    SXS_UNSEEN_INLINED,    /* a function that may have been inlined */
    SXS_UNSEEN_KEPT,       /* functions that the tool kept from being inlined */
    SXS_UNSEEN_RECOMPILED, /* functions compiled more than once */
    SXS_UNSEEN_INTRINSIC,  /* a method that the JIT may replace by instructions */
    SXS_UNSEEN_DYNAMIC,    /* a dynamic method */
    SXS_UNSEEN_STUB,       /* a stub that the runtime generated */
    SXS_UNSEEN_NATIVE,     /* a P/Invoke */
    SXS_UNSEEN_RUNTIME,    /* a method that the runtime implements */
    SXS_UNSEEN_ABSTRACT,
    SXS_UNSEEN_NEVER,    /* a method that was never compiled */
    SXS_UNSEEN_UNLISTED, /* notes that did not fit into the file */
    SXS_UNSEEN_KINDS
};

struct sxs_unseen {
    enum sxs_unseen_kind kind;
    uint32_t             runtime; /* the runtime's number; 0: no particular runtime */
    char                *name;    /* owned; "" when the row is only a count */
    char                *detail;  /* owned; "" when the kind says everything */
    uint64_t             count;   /* its meaning depends on the kind */
};

struct sxs_unseen_list {
    struct sxs_unseen *all; /* owned; by kind, then runtime, then count, highest first */
    size_t             n, cap;
};

/**
 * sxs_unseen_collect - collect the coverage gaps of process @p.
 * @out: overwritten; call sxs_unseen_free() even after an error.
 * Returns 0 or ENOMEM.
 */
int  sxs_unseen_collect(const struct sxs_calls_process *p, struct sxs_unseen_list *out);
void sxs_unseen_free(struct sxs_unseen_list *list);

/** sxs_unseen_why - return the text that explains a kind, for all of its rows. Static. */
const char *sxs_unseen_why(enum sxs_unseen_kind kind);
/** sxs_unseen_is_counted - return true when rows of @kind are printed with their counts. */
bool sxs_unseen_is_counted(enum sxs_unseen_kind kind);

/**
 * sxs_unseen_group - return how many rows, from index @from on, have the kind and runtime of row
 * @from.
 */
size_t sxs_unseen_group(const struct sxs_unseen_list *list, size_t from);
/**
 * sxs_unseen_sum - return the total of a group of @n rows, or 0 when the group has no total.
 * Rows with names count 1 each; a row without a name has a count of its own.
 */
uint64_t sxs_unseen_sum(const struct sxs_unseen *group, size_t n);

/** sxs_unseen_no_fit - return the reason why @pattern matches nothing. Static. */
const char *sxs_unseen_no_fit(const struct sxs_calls_remark *pattern);

/** sxs_unseen_warn - write one warning line for each pattern that matches nothing. */
void sxs_unseen_warn(FILE *to, const struct sxs_calls_process *p);

/**
 * sxs_unseen_text - write the section "not seen" of the text report for process @p.
 * @v: the runtime to show and the number of rows per group (0: 20).
 */
void sxs_unseen_text(FILE *to, const struct sxs_calls_process *p, const struct sxs_calls_view *v);

/**
 * sxs_unseen_json - add the key "unseen", with the coverage gaps of all processes, to @top. Returns
 * 0 or -1.
 */
int sxs_unseen_json(json_t *top, const struct sxs_calls_report *calls);

#endif
