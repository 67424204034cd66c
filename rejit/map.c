/* SPDX-License-Identifier: MIT */
#include "rejit/map.h"

#include <stdlib.h>

/* Returns the row that an old offset moves with; NULL: none. */
static const COR_IL_MAP *find_row(const struct rejit_map *map, ULONG32 old)
{
    const COR_IL_MAP *best = NULL;
    for (ULONG i = 0; i < map->n; i++)
        if (map->rows[i].oldOffset <= old && (!best || map->rows[i].oldOffset >= best->oldOffset))
            best = &map->rows[i];
    return best;
}

static ULONG32 new_offset(const struct rejit_map *map, ULONG32 old)
{
    const COR_IL_MAP *row = find_row(map, old);
    return row ? row->newOffset + (old - row->oldOffset) : old;
}

/* Finds the old offset that leads to @wanted. Returns 0 when there is none: inserted code. */
static int find_old(const struct rejit_map *map, ULONG32 wanted, ULONG32 *old)
{
    for (ULONG i = 0; i < map->n; i++) {
        const COR_IL_MAP *row = &map->rows[i];
        *old = row->oldOffset + (wanted - row->newOffset);
        if (wanted >= row->newOffset && find_row(map, *old) == row)
            return 1;
    }
    *old = wanted;
    return !find_row(map, wanted);
}

static int by_old_offset(const void *a, const void *b)
{
    ULONG32 left = ((const COR_IL_MAP *)a)->oldOffset, right = ((const COR_IL_MAP *)b)->oldOffset;
    return left < right ? -1 : left > right;
}

int rejit_map_append(struct rejit_map *map, const struct rejit_map *next)
{
    struct rejit_map both = {.rows = calloc(map->n + next->n + 1, sizeof(*both.rows))};
    ULONG            n = 0;
    if (!both.rows)
        return -1;
    for (ULONG i = 0; i < map->n; i++)
        both.rows[both.n++] = map->rows[i];
    for (ULONG i = 0; i < next->n; i++) {
        both.rows[both.n] = next->rows[i];
        if (find_old(map, next->rows[i].oldOffset, &both.rows[both.n].oldOffset))
            both.n++;
    }
    qsort(both.rows, both.n, sizeof(*both.rows), by_old_offset);
    for (ULONG i = 0; i < both.n; i++) { /* two rows for one offset become one */
        COR_IL_MAP row = both.rows[i];
        row.newOffset = new_offset(next, new_offset(map, row.oldOffset));
        if (n && both.rows[n - 1].oldOffset == row.oldOffset)
            both.rows[n - 1].fAccurate = both.rows[n - 1].fAccurate && row.fAccurate;
        else
            both.rows[n++] = row;
    }
    both.n = n;
    free(map->rows);
    *map = both;
    return 0;
}
