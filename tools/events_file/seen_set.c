/* SPDX-License-Identifier: MIT */
#include "tools/events_file/seen_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static size_t bucket_of(const struct sxs_seen_key *key)
{
    uint64_t hash = sxs_hash_add(sxs_hash_add(sxs_hash_id(key->a), key->b), key->c);
    return (sxs_hash_id(hash) >> 40) % SXS_SEEN_BUCKETS;
}

struct sxs_seen_entry *sxs_seen_set_find(struct sxs_seen_set *t, const struct sxs_seen_key *key)
{
    struct sxs_seen_entry *e =
        atomic_load_explicit(&t->buckets[bucket_of(key)], memory_order_acquire);
    while (e && memcmp(&e->key, key, sizeof(*key)) != 0)
        e = e->next;
    return e;
}

int sxs_seen_set_is_full(struct sxs_seen_set *t)
{
    return atomic_load(&t->n) >= SXS_SEEN_MAX;
}

struct sxs_seen_entry *sxs_seen_set_add(struct sxs_seen_set *t, const struct sxs_seen_key *key,
                                        uint32_t number, void *what)
{
    _Atomic(struct sxs_seen_entry *) *bucket = &t->buckets[bucket_of(key)];
    struct sxs_seen_entry            *e;
    if (sxs_seen_set_is_full(t) || !(e = calloc(1, sizeof(*e))))
        return NULL;
    atomic_fetch_add(&t->n, 1);
    e->key = *key;
    e->number = number;
    e->what = what;
    e->next = atomic_load(bucket);
    while (!atomic_compare_exchange_weak(bucket, &e->next, e))
        ;
    return e;
}

void sxs_seen_set_clear(struct sxs_seen_set *t)
{
    for (size_t i = 0; i < SXS_SEEN_BUCKETS; i++) {
        struct sxs_seen_entry *e = atomic_exchange(&t->buckets[i], NULL);
        while (e) {
            struct sxs_seen_entry *next = e->next;
            free(e);
            e = next;
        }
    }
    atomic_store(&t->n, 0);
}
