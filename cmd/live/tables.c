/* SPDX-License-Identifier: MIT */
/* tables.c - rows by key, names by number, and records that change in place. */
#include "cmd/live/internal.h"

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

#include <string.h>

#define MAX_NAMES (1u << 22) /* limit of the numbers of names, as for whole readers */
#define PER_LOOK  4096u      /* records that one look reads again */

size_t sxs_live_item(struct sxs_live_table *t, const uint32_t key[4])
{
    uint32_t hash = (uint32_t)sxs_table_hash(key, 4 * sizeof(*key), 11), number;
    size_t   at = hash;
    if (sxs_index_reserve(&t->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&t->index, hash, &at)) != 0; at++)
        if (memcmp(t->all[number - 1].key, key, sizeof(t->all->key)) == 0)
            return number - 1;
    SXS_GROW(t->all, t->n, t->cap);
    memset(&t->all[t->n], 0, sizeof(t->all[0]));
    memcpy(t->all[t->n].key, key, sizeof(t->all->key));
    sxs_index_put(&t->index, at, hash, t->n);
    return t->n++;
}

void sxs_live_table_free(struct sxs_live_table *t)
{
    free(t->all);
    sxs_index_free(&t->index);
}

void sxs_live_name_add(struct sxs_live *l, struct sxs_live_names *names, uint32_t number,
                       const char *text, size_t size)
{
    if (number >= MAX_NAMES)
        return;
    uint32_t index = sxs_must_index(&names->numbers, number);
    names->all = sxs_must_reach(names->all, &names->n, index, sizeof(*names->all));
    names->all[index] = sxs_strings_add(&l->strings, text, size);
}

uint32_t sxs_live_name_of(const struct sxs_live_names *names, uint32_t number)
{
    uint32_t index = sxs_numbers_find(&names->numbers, number);
    return index != SXS_NUMBERS_NONE ? names->all[index] : 0;
}

void sxs_live_names_free(struct sxs_live_names *names)
{
    sxs_numbers_free(&names->numbers);
    free(names->all);
}

void sxs_live_changing_add(struct sxs_live_changings *c, const struct sxs_live_changing *v)
{
    SXS_GROW(c->all, c->n, c->cap);
    c->all[c->n++] = *v;
}

size_t sxs_live_changing_turn(struct sxs_live_changings *c, bool all)
{
    if (c->next >= c->n)
        c->next = 0;
    return all || c->n < PER_LOOK ? c->n : PER_LOOK;
}
