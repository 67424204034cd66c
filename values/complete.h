/* SPDX-License-Identifier: MIT */
/** complete.h - recipes of shared code, which a call completes; for this folder. */
#ifndef SXS_VALUES_COMPLETE_H
#define SXS_VALUES_COMPLETE_H

#include "values/formatter.h"

/**
 * sxs_recipe_prepare - sets aside all memory that sxs_recipe_complete() needs for @r, which is `by_frame`: a second
 * recipe, and room for the names of its types. Marks in the names of @r become "?". Where there is no memory, or a
 * name has no room, @r->draft stays NULL and the recipe is never completed.
 * In a callback, before hooks see @r.
 */
void sxs_recipe_prepare(struct sxs_recipe *r);

#endif
