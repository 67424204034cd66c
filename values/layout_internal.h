/* SPDX-License-Identifier: MIT */
/** layout_internal.h - the table of layouts. Private to values/ and its tests. */
#ifndef SXS_VALUES_LAYOUT_INTERNAL_H
#define SXS_VALUES_LAYOUT_INTERNAL_H

#include "values/layout.h"

/** sxs_layout_keep - add @fresh to the table. If the table already has a layout of that class,
 *  frees @fresh. Returns the layout in the table. Without memory, frees @fresh and returns
 *  NULL. */
const struct sxs_layout *sxs_layout_keep(struct sxs_layout *fresh /* owned */);

#endif
