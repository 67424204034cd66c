/* SPDX-License-Identifier: MIT */
/** nearest.h - finds names that are similar to a wrong one, for suggestions. Pure functions. */
#ifndef SXS_INSTR_WEAVE_NEAREST_H
#define SXS_INSTR_WEAVE_NEAREST_H

#include "instr/metadata/text.h"

#define SXS_NEAREST_MAX 3u

struct sxs_nearest {
    const char *name; /* the wrong name; borrowed */
    char        found[SXS_NEAREST_MAX][256];
    unsigned    far[SXS_NEAREST_MAX]; /* distance of each found name, ascending */
    unsigned    n;                    /* number of found names */
};

/** sxs_nearest_begin - start a search for names similar to @name, which must outlive the search. */
void sxs_nearest_begin(struct sxs_nearest *nearest, const char *name);

/** sxs_nearest_try - keep @other if it is similar and among the nearest. A name is similar when at
 *  most one letter is added, missing or different (two if the wrong name has more than five
 *  letters; case does not count), or when the part after the last dot is the same. */
void sxs_nearest_try(struct sxs_nearest *nearest, const char *other);

/** sxs_nearest_put - write "; is A or B meant?", or nothing when no similar name was found. */
void sxs_nearest_put(const struct sxs_nearest *nearest, struct sxs_text *t);

#endif
