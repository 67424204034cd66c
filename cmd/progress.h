/* SPDX-License-Identifier: MIT */
/**
 * progress.h - a line on the terminal that shows the progress of a run with samples.
 *
 * The line is drawn in the row below the cursor, dim and right-aligned, so that the output of the
 * command appears where it would appear without the line. The line is drawn after two seconds and
 * erased at the end. Nothing is drawn when standard error is not a terminal or a dumb terminal,
 * when another job is in the foreground, or when the terminal is not in canonical mode (ICANON),
 * because then a program draws the whole screen itself.
 */
#ifndef SXS_CMD_PROGRESS_H
#define SXS_CMD_PROGRESS_H

#include "cmd/out_dir.h"

#include <stdint.h>

struct sxs_progress {
    const struct sxs_out_dir *out; /* borrowed */
    bool                      enabled, drawn;
    uint64_t                  began_ns;
    uint64_t                  last_ns, last_samples; /* of the last calculation of rate */
    double                    rate;
};

#define SXS_PROGRESS_PERIOD_NS 150000000L

/** sxs_progress_init - start measuring. @out: borrowed; must outlive @p. @quiet: never draw. */
void sxs_progress_init(struct sxs_progress *p, const struct sxs_out_dir *out, bool quiet);

/**
 * sxs_progress_tick - draw the line with current numbers from the session folder. Call this about
 * every SXS_PROGRESS_PERIOD_NS.
 */
void sxs_progress_tick(struct sxs_progress *p);

/** sxs_progress_erase - erase the line. */
void sxs_progress_erase(struct sxs_progress *p);

#endif
