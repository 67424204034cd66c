/* SPDX-License-Identifier: MIT */
/** map.h - maps of IL offsets that tools set for new IL: rows of an old and a new offset. An
 *  offset between two rows moves with the row before it; one before the first row does not move. */
#ifndef SXS_REJIT_MAP_H
#define SXS_REJIT_MAP_H

#include "sxs_abi.h"

struct rejit_map {
    COR_IL_MAP *rows; /* owned */
    ULONG       n;
};

/**
 * rejit_map_append - change @map, which leads from the runtime's body to the body so far, so that it
 * leads to the next body.
 * @next: leads from the body so far to the next one. An empty map moves nothing.
 * The result has a row for each old offset at which one of the maps has one, in ascending order. Rows
 * of @next for code that was inserted by the bodies before have no old offset, and are left out.
 * Returns 0, or -1 without memory: @map is unchanged.
 */
int rejit_map_append(struct rejit_map *map, const struct rejit_map *next);

#endif
