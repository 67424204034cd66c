/* SPDX-License-Identifier: MIT */
#include "session/read/numbers.h"

#include <errno.h>
#include <stdlib.h>

#define LEVELS_MAX (32 / SXS_NUMBERS_BITS)

/* Makes sure that the nodes for one more number have room. Returns 0 or -ENOMEM. */
static int reserve(struct sxs_numbers *all)
{
    size_t cap = all->cap_nodes ? all->cap_nodes * 2 : 2 * LEVELS_MAX;
    if (all->n_nodes + 2 * LEVELS_MAX <= all->cap_nodes)
        return 0;
    struct sxs_numbers_node *more = reallocarray(all->nodes, cap, sizeof(*more));
    if (!more)
        return -ENOMEM;
    all->nodes = more;
    all->cap_nodes = cap;
    return 0;
}

static uint32_t new_node(struct sxs_numbers *all)
{
    all->nodes[all->n_nodes] = (struct sxs_numbers_node){{0}};
    return (uint32_t)all->n_nodes++;
}

/* Puts nodes above the root until the tree is high enough for @number. */
static void raise_tree(struct sxs_numbers *all, uint32_t number)
{
    if (!all->bits) {
        all->root = new_node(all);
        all->bits = SXS_NUMBERS_BITS;
    }
    while ((uint64_t)number >> all->bits) {
        uint32_t above = new_node(all);
        all->nodes[above].next[0] = all->root + 1;
        all->root = above;
        all->bits += SXS_NUMBERS_BITS;
    }
}

int sxs_numbers_add(struct sxs_numbers *all, uint32_t number, uint32_t *index)
{
    *index = sxs_numbers_find(all, number);
    if (*index != SXS_NUMBERS_NONE)
        return 0;
    if (reserve(all) != 0)
        return -ENOMEM;
    raise_tree(all, number);
    uint32_t at = all->root;
    for (unsigned shift = all->bits - SXS_NUMBERS_BITS;; shift -= SXS_NUMBERS_BITS) {
        uint32_t branch = number >> shift & ((1u << SXS_NUMBERS_BITS) - 1);
        if (!shift) {
            all->nodes[at].next[branch] = all->n + 1;
            break;
        }
        if (!all->nodes[at].next[branch]) {
            uint32_t below = new_node(all);
            all->nodes[at].next[branch] = below + 1;
        }
        at = all->nodes[at].next[branch] - 1;
    }
    *index = all->n++;
    return 0;
}

void sxs_numbers_free(struct sxs_numbers *all)
{
    free(all->nodes);
    *all = (struct sxs_numbers){0};
}
