/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((size_t)16)

int sxs_index_reserve(struct sxs_index *index)
{
    if (index->n * 2 < index->n_slots)
        return 0;
    size_t                 n = index->n_slots ? index->n_slots * 2 : FIRST_SLOTS;
    struct sxs_index_slot *grown = calloc(n, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    for (size_t i = 0; i < index->n_slots; i++) {
        if (!index->slots[i].number)
            continue;
        size_t at = index->slots[i].hash & (n - 1);
        while (grown[at].number)
            at = (at + 1) & (n - 1);
        grown[at] = index->slots[i];
    }
    free(index->slots);
    index->slots = grown;
    index->n_slots = n;
    return 0;
}

/* Moves later elements of the same run of slots to the slot that became free, if a search for them
 * passes it. */
void sxs_index_remove(struct sxs_index *index, size_t at)
{
    size_t mask = index->n_slots - 1, hole = at;
    for (size_t i = (at + 1) & mask; index->slots[i].number; i = (i + 1) & mask) {
        size_t first = index->slots[i].hash & mask; /* where the search for this element begins */
        if (((i - first) & mask) < ((i - hole) & mask))
            continue;
        index->slots[hole] = index->slots[i];
        hole = i;
    }
    index->slots[hole] = (struct sxs_index_slot){0};
    index->n--;
}

void sxs_index_clear(struct sxs_index *index)
{
    if (index->n)
        memset(index->slots, 0, index->n_slots * sizeof(*index->slots));
    index->n = 0;
}

void sxs_index_free(struct sxs_index *index)
{
    free(index->slots);
    *index = (struct sxs_index){0};
}
