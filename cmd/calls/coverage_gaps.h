/* SPDX-License-Identifier: MIT */
/** unseen.h - which functions are not seen in the calls of a process, or seen in part, and why. */
#ifndef SXS_REPORT_CALLS_UNSEEN_H
#define SXS_REPORT_CALLS_UNSEEN_H

#include <jansson.h>

#include "cmd/calls/calls.h"

/** In the order of the report. */
enum sxs_unseen_kind {
    SXS_UNSEEN_PATTERN,    /* a pattern that fits nothing */
    SXS_UNSEEN_ATTACHED,   /* a runtime without hooks */
    SXS_UNSEEN_SETTINGS,   /* of a runtime */
    SXS_UNSEEN_LOST,       /* functions without hooks: no memory */
    SXS_UNSEEN_UNTIMED,    /* a function timed no longer */
    SXS_UNSEEN_INLINED,    /* a function that may have been inlined */
    SXS_UNSEEN_KEPT,       /* functions kept from being inlined */
    SXS_UNSEEN_RECOMPILED, /* functions compiled more than once */
    SXS_UNSEEN_INTRINSIC,  /* a method that the JIT expands */
    SXS_UNSEEN_DYNAMIC,    /* a dynamic method */
    SXS_UNSEEN_STUB,       /* a stub of the runtime's */
    SXS_UNSEEN_NATIVE,     /* a P/Invoke */
    SXS_UNSEEN_RUNTIME,    /* a method that the runtime implements */
    SXS_UNSEEN_ABSTRACT,
    SXS_UNSEEN_NEVER,    /* a method that was never compiled */
    SXS_UNSEEN_UNLISTED, /* of all this, what found no room in the file */
    SXS_UNSEEN_KINDS
};

struct sxs_unseen {
    enum sxs_unseen_kind kind;
    uint32_t             runtime; /* its number; 0: none */
    char                *name;    /* owned; "" of those that are only counted */
    char                *detail;  /* owned; "": the kind says it all */
    uint64_t             count;   /* of what the kind tells */
};

struct sxs_unseen_list {
    struct sxs_unseen *all; /* owned; by kind, runtime, then the largest first */
    size_t             n, cap;
};

/** Everything that @p tells. @out: overwritten. 0 or ENOMEM; sxs_unseen_free() whatever it is. */
int  sxs_unseen_collect(const struct sxs_calls_process *p, struct sxs_unseen_list *out);
void sxs_unseen_free(struct sxs_unseen_list *list);

/** What is told of a kind, for all of its rows. Static. */
const char *sxs_unseen_why(enum sxs_unseen_kind kind);
/** Does a row's count belong beside its name? */
bool sxs_unseen_is_counted(enum sxs_unseen_kind kind);

/** How many rows from @from on are of its kind and runtime. */
size_t sxs_unseen_group(const struct sxs_unseen_list *list, size_t from);
/** What these @n are counted as in all; 0: they are not. */
uint64_t sxs_unseen_sum(const struct sxs_unseen *group, size_t n);

/** Why a pattern fits nothing. Static. */
const char *sxs_unseen_no_fit(const struct sxs_calls_remark *pattern);

/** A line for each pattern that fits nothing. */
void sxs_unseen_warn(FILE *to, const struct sxs_calls_process *p);

/** The section "not seen" of the text, of one process; @v: its runtime and number of rows. */
void sxs_unseen_text(FILE *to, const struct sxs_calls_process *p, const struct sxs_calls_view *v);

/** "unseen" of all processes into @top. Returns 0 or -1. */
int sxs_unseen_json(json_t *top, const struct sxs_calls_report *calls);

#endif
