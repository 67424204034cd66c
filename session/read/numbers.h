/* SPDX-License-Identifier: MIT */
/**
 * numbers.h - a table of the numbers that a file gives to its types, names and methods.
 *
 * Each number gets an index, 0, 1, 2... in the order in which the numbers are added. So the lists of a
 * reader are as long as the count of numbers, even if an untrusted file has very high ones. The table is a
 * tree with 16 branches at each level, in which numbers cannot be chosen to collide, as in a hash table.
 */
#ifndef SXS_SESSION_READ_NUMBERS_H
#define SXS_SESSION_READ_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define SXS_NUMBERS_BITS 4u
#define SXS_NUMBERS_NONE UINT32_MAX

struct sxs_numbers_node {
    uint32_t next[1u << SXS_NUMBERS_BITS]; /* a node, at the lowest level an index; + 1; 0: none */
};

/** Zeroed it is empty. One thread at a time. */
struct sxs_numbers {
    struct sxs_numbers_node *nodes; /* owned */
    size_t                   n_nodes, cap_nodes;
    uint32_t                 root; /* a node */
    unsigned                 bits; /* of the numbers that the tree is high enough for; 0: no tree */
    uint32_t                 n;    /* numbers in the table */
};

/** sxs_numbers_find - return the index of @number; SXS_NUMBERS_NONE if it was not added. */
static inline uint32_t sxs_numbers_find(const struct sxs_numbers *all, uint32_t number)
{
    uint32_t at = all->root;
    if ((uint64_t)number >> all->bits || !all->bits)
        return SXS_NUMBERS_NONE;
    for (unsigned shift = all->bits; shift; at--) {
        shift -= SXS_NUMBERS_BITS;
        at = all->nodes[at].next[number >> shift & ((1u << SXS_NUMBERS_BITS) - 1)];
        if (!at)
            return SXS_NUMBERS_NONE;
    }
    return at;
}

/**
 * sxs_numbers_add - find the index of @number, which is added if it is new: then the index is all->n - 1.
 * Returns 0, or -ENOMEM: nothing was added.
 */
int sxs_numbers_add(struct sxs_numbers *all, uint32_t number, uint32_t *index);

/** sxs_numbers_free - release the table's memory; it is empty then. */
void sxs_numbers_free(struct sxs_numbers *all);

#endif
