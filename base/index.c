/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS ((size_t)1024)

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

void sxs_index_free(struct sxs_index *index)
{
    free(index->slots);
    *index = (struct sxs_index){0};
}
