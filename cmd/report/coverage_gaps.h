/* SPDX-License-Identifier: MIT */
/** unseen.h - what is not seen of calls, and why: in the model, for the page. */
#ifndef SXS_REPORT_PROFILE_UNSEEN_H
#define SXS_REPORT_PROFILE_UNSEEN_H

#include "cmd/calls/calls.h"
#include "cmd/report/model.h"

/** Of one kind, runtime and process. Texts are fit for JSON, and owned unless they are said to be static. */
struct sxs_model_unseen {
    uint32_t    pid, runtime; /* runtime: its number; 0: none */
    const char *why;          /* static */
    char       *version;      /* of the runtime */
    bool        counted;      /* the rows' counts are worth a column */
    uint64_t    sum;          /* in all; 0: not counted */
    size_t      n, n_left;    /* rows; and how many more there are */
    struct sxs_model_unseen_row {
        char    *name, *detail;
        uint64_t count;
    } *rows; /* owned */
};

/** Rows of one kind and runtime that a page carries; the text tells 20, json all. */
#define SXS_UNSEEN_MOST_ROWS 1000u

/** sxs_model_take_unseen - of process @p into @m, of the runtime that @o wants. */
void sxs_model_take_unseen(struct sxs_model *m, const struct sxs_calls_process *p,
                           const struct sxs_report_options *o);
/** sxs_model_move_unseen - from one model to another. */
void sxs_model_move_unseen(struct sxs_model *from, struct sxs_model *to);
void sxs_model_free_unseen(struct sxs_model *m);

/** sxs_model_write_unseen - as the page's key "unseen", if there is any:
 *  [pid, number of the runtime, its version, why, sum, counted, rows left out, [[name, detail, count]...]] */
void sxs_model_write_unseen(const struct sxs_model *m, FILE *to);

#endif
