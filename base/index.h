/* SPDX-License-Identifier: MIT */
/**
 * base/index.h - the hash table of the library and the command: it contains numbers of elements of an array.
 *
 * The caller computes the hashes, compares the elements, and may move the array. To find an element
 * or the place for a new one:
 *
 *     size_t   at = hash;
 *     uint32_t number;
 *     if (sxs_index_reserve(index) != 0) ...
 *     for (; (number = sxs_index_next(index, hash, &at)) != 0; at++)
 *         if (array[number - 1] is the element)
 *             return number - 1;
 *     sxs_index_put(index, at, hash, n);
 */
#ifndef SXS_BASE_INDEX_H
#define SXS_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct sxs_index_slot {
    uint32_t number, hash; /* number: 0: free, else the number of the element + 1 */
};

/** Zeroed it is empty. One thread at a time. Not signal-safe. Tables that signal handlers or hooks
 *  read without a lock are others: see "Hard choices" in docs/internals/architecture.md. */
struct sxs_index {
    struct sxs_index_slot *slots; /* owned; open addressing */
    size_t                 n, n_slots;
};

/** sxs_index_reserve - make sure that one more element has room. Returns 0 or -ENOMEM. */
int sxs_index_reserve(struct sxs_index *index);

/** sxs_index_next - return the next candidate for @hash: its number + 1, or 0 if there is none; then
 *  *at is the free slot for the element, if sxs_index_reserve() was called before. *at begins as
 *  @hash, and is incremented after each candidate. */
static inline uint32_t sxs_index_next(const struct sxs_index *index, uint32_t hash, size_t *at)
{
    if (!index->n_slots)
        return 0;
    for (;; (*at)++) {
        *at &= index->n_slots - 1;
        const struct sxs_index_slot *s = &index->slots[*at];
        if (!s->number || s->hash == hash)
            return s->number;
    }
}

/** sxs_index_put - put the element @number into the slot @at that sxs_index_next() found. */
static inline void sxs_index_put(struct sxs_index *index, size_t at, uint32_t hash, size_t number)
{
    index->slots[at] = (struct sxs_index_slot){(uint32_t)number + 1, hash};
    index->n++;
}

/** sxs_index_remove - remove the element in the slot @at, at which sxs_index_next() has stopped. The
 *  slots of other elements may change. Allocates nothing. */
void sxs_index_remove(struct sxs_index *index, size_t at);

/** sxs_index_clear - remove all elements and keep the memory: as many elements have room again. */
void sxs_index_clear(struct sxs_index *index);

/** sxs_index_free - release the table's memory; it is empty then. */
void sxs_index_free(struct sxs_index *index);

#endif
