/* SPDX-License-Identifier: MIT */
/** nearest.h - names that somebody may have meant. Pure functions. */
#ifndef SXS_REWRITE_NEAREST_H
#define SXS_REWRITE_NEAREST_H

#include "instr/metadata/text.h"

#define SXS_NEAREST_MAX 3u

struct sxs_nearest {
    const char *name; /* borrowed */
    char        found[SXS_NEAREST_MAX][256];
    unsigned    far[SXS_NEAREST_MAX]; /* ascending */
    unsigned    n;
};

void sxs_nearest_begin(struct sxs_nearest *nearest, const char *name);

/** sxs_nearest_try - is @other alike? Two letters more, less or different in longer names, another case, or the same
 *  behind the last dot. */
void sxs_nearest_try(struct sxs_nearest *nearest, const char *other);

/** sxs_nearest_put - "; is A or B meant?", or nothing. */
void sxs_nearest_put(const struct sxs_nearest *nearest, struct sxs_il_text *t);

#endif
