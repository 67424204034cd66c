/* SPDX-License-Identifier: MIT */
/** layout_internal.h - the table of layouts; for this folder and its tests. */
#ifndef SXS_VALUES_LAYOUT_INTERNAL_H
#define SXS_VALUES_LAYOUT_INTERNAL_H

#include "values/layout.h"

/** Takes @fresh in, or frees it when another of its class was first. Returns the one that holds; NULL: no
 *  memory, and it is freed. */
const struct sxs_layout *sxs_layout_keep(struct sxs_layout *fresh /* owned */);

#endif
