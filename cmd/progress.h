/* SPDX-License-Identifier: MIT */
/**
 * progress.h - one line on the terminal that tells how a run with samples is getting on.
 *
 * It stands in the row below the cursor, dim and at the right, so that what the command prints goes where it would have
 * gone; it appears after two seconds and is gone at the end. Nothing is drawn when standard error is
 * no terminal, is a dumb one, belongs to another job, or is in the hands of a program that reads
 * single keys (not ICANON): that one draws the whole screen itself.
 */
#ifndef SXS_REPORT_PROGRESS_H
#define SXS_REPORT_PROGRESS_H

#include "cmd/out_dir.h"

#include <stdint.h>

struct sxs_progress {
    const struct sxs_out_dir *out; /* borrowed */
    bool                      enabled, drawn;
    uint64_t                  began_ns;
    uint64_t                  last_ns, last_samples; /* for the rate */
    double                    rate;
};

#define SXS_PROGRESS_PERIOD_NS 150000000L

/** sxs_progress_init - from now on; @quiet: nothing is ever drawn. */
void sxs_progress_init(struct sxs_progress *p, const struct sxs_out_dir *out, bool quiet);

/** sxs_progress_tick - draw anew what the session folder says; call it some six times a second. */
void sxs_progress_tick(struct sxs_progress *p);

/** sxs_progress_erase - leave no trace. */
void sxs_progress_erase(struct sxs_progress *p);

#endif
