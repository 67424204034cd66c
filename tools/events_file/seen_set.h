/* SPDX-License-Identifier: MIT */
/**
 * seen_set.h - a hash table that only grows: entries for names and throw sites that were seen
 * before.
 *
 * Lookup and insertion take no lock, so it is not base/index.h. A collection may be waiting for a thread that runs an
 * exception callback, so that thread must never wait for a thread that calls the runtime. If two
 * threads add the same key at the same time, both succeed; either entry may be used.
 */
#ifndef SXS_TOOLS_EVENTS_FILE_SEEN_SET_H
#define SXS_TOOLS_EVENTS_FILE_SEEN_SET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SXS_SEEN_BUCKETS 4096u
#define SXS_SEEN_MAX     (1u << 18) /* entries: 16 MiB */

struct sxs_seen_key {
    uint64_t a, b, c;
};

struct sxs_seen_entry {
    struct sxs_seen_entry  *next;
    struct sxs_seen_key     key;
    uint32_t                number; /* for the user of the table */
    _Atomic uint32_t        n;      /* for the user of the table */
    void                   *what;   /* for the user of the table; not owned */
};

/** The table. All zeros: empty. */
struct sxs_seen_set {
    _Atomic(struct sxs_seen_entry *)  buckets[SXS_SEEN_BUCKETS];
    _Atomic uint32_t                  n;
};

/** sxs_seen_set_find - return the entry of @key, or NULL. Entries are borrowed until
 *  sxs_seen_set_clear(). Any
 *  thread. */
struct sxs_seen_entry *sxs_seen_set_find(struct sxs_seen_set *t, const struct sxs_seen_key *key);

/** sxs_seen_set_is_full - return 1 if the table has SXS_SEEN_MAX entries, else 0. Any thread. */
int sxs_seen_set_is_full(struct sxs_seen_set *t);

/** sxs_seen_set_add - add an entry and return it, or NULL when the table is full or there is no
 *  memory. Any thread. */
struct sxs_seen_entry *sxs_seen_set_add(struct sxs_seen_set *t, const struct sxs_seen_key *key,
                                        uint32_t number, void *what);

/** sxs_seen_set_clear - free all entries, so that the table is empty. No other thread may use it. */
void sxs_seen_set_clear(struct sxs_seen_set *t);

#endif
