/* SPDX-License-Identifier: MIT */
/** complete.h - prepares value formatters of shared generic code; the first call completes them.
 *  Private to values/. */
#ifndef SXS_VALUES_COMPLETE_H
#define SXS_VALUES_COMPLETE_H

#include "values/formatter.h"

/**
 * sxs_recipe_prepare - allocate the memory that sxs_recipe_complete() needs for @r: a second
 * formatter, and room for the names of its types.
 * @r: a formatter whose by_frame is 1. Replaces marks in its type names with "?".
 * Without memory, @r->draft stays NULL and the formatter is never completed.
 * Call in a callback, before hooks use @r.
 */
void sxs_recipe_prepare(struct sxs_recipe *r);

#endif
