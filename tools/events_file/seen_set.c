/* SPDX-License-Identifier: MIT */
#include "tools/events_file/seen_set.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const struct sxs_known_key *key)
{
    uint64_t h = key->a * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ key->b) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 32) ^ key->c) * 0x94d049bb133111ebu;
    return (h >> 40) % SXS_KNOWN_BUCKETS;
}

struct sxs_known_entry *sxs_known_find(struct sxs_known *t, const struct sxs_known_key *key)
{
    struct sxs_known_entry *e =
        atomic_load_explicit(&t->buckets[bucket_of(key)], memory_order_acquire);
    while (e && memcmp(&e->key, key, sizeof(*key)) != 0)
        e = e->next;
    return e;
}

int sxs_known_is_full(struct sxs_known *t)
{
    return atomic_load(&t->n) >= SXS_KNOWN_MOST;
}

struct sxs_known_entry *sxs_known_add(struct sxs_known *t, const struct sxs_known_key *key,
                                      uint32_t number, void *what)
{
    _Atomic(struct sxs_known_entry *) *bucket = &t->buckets[bucket_of(key)];
    struct sxs_known_entry            *e;
    if (sxs_known_is_full(t) || !(e = calloc(1, sizeof(*e))))
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
