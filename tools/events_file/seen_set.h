/* SPDX-License-Identifier: MIT */
/**
 * known.h - a table that only grows, of small keys: what was named or counted before.
 *
 * Looking up and adding take no lock: exception callbacks run while a collection may wait for their
 * thread, and must never wait for a thread that asks the runtime something. Two threads that add the
 * same key at once both succeed: either entry is good.
 */
#ifndef SXS_EVENTS_KNOWN_H
#define SXS_EVENTS_KNOWN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_KNOWN_BUCKETS 4096u
#define SXS_KNOWN_MOST    (1u << 18) /* entries: 16 MiB */

struct sxs_known_key {
    uint64_t a, b, c;
};

struct sxs_known_entry {
    struct sxs_known_entry *next;
    struct sxs_known_key    key;
    uint32_t                number; /* the user's */
    _Atomic uint32_t        n;      /* the user's */
    void                   *what;   /* the user's; not owned */
};

/** Zeroed: empty. */
struct sxs_known {
    _Atomic(struct sxs_known_entry *) buckets[SXS_KNOWN_BUCKETS];
    _Atomic uint32_t                  n;
};

/** The entry of @key, or NULL. Borrowed for good. Any thread. */
struct sxs_known_entry *sxs_known_find(struct sxs_known *t, const struct sxs_known_key *key);

/** 1 when sxs_known_add() would not add another. Any thread. */
int sxs_known_is_full(struct sxs_known *t);

/** Adds one; NULL when the table is full or memory is. Any thread. */
struct sxs_known_entry *sxs_known_add(struct sxs_known *t, const struct sxs_known_key *key,
                                      uint32_t number, void *what);

#endif
