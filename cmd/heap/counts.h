/* SPDX-License-Identifier: MIT */
/** counts.h - numbers and bytes of the objects of each type, without their references: fast. */
#ifndef SXS_CMD_HEAP_COUNTS_H
#define SXS_CMD_HEAP_COUNTS_H

#include <jansson.h>
#include <stdio.h>

#include "cmd/heap/snapshots.h"
#include "cmd/output/missing.h"
#include "cmd/output/strings.h"

/** The objects of one type in one runtime. */
struct sxs_heap_count {
    uint32_t runtime; /* number */
    uint32_t version; /* of the runtime: number in the strings */
    uint32_t type;    /* name: number in the strings */
    uint64_t objects, bytes;
};

struct sxs_heap_counts {
    struct sxs_heap_count *all; /* ordered by runtime, then by falling bytes; types without objects
                                 * are left out. Owned */
    size_t                 n;
    struct sxs_strings     strings;
    char                 **problems; /* lines that describe the damage in the file */
    size_t                 n_problems;
};

/** sxs_heap_counts_load - count the objects of a snapshot. Parameters and result as for
 *  sxs_heap_load(). */
int  sxs_heap_counts_load(int folder_fd, uint32_t number, uint32_t runtime,
                          struct sxs_heap_counts *out, char *why, size_t why_size);
void sxs_heap_counts_free(struct sxs_heap_counts *c);

/** What a type has in one snapshot more than in another. */
struct sxs_heap_change {
    const char *type; /* borrowed */
    uint32_t
        runtime; /* number; of a runtime that is only in the snapshot before: its number there */
    uint32_t    pair;                 /* private: of the pair of runtimes, from 1 on */
    uint64_t    objects[2], bytes[2]; /* before, now */
};

/** Two runtimes whose types are compared, or one that is in one snapshot only. */
struct sxs_heap_versions {
    uint32_t    runtime;    /* as in struct sxs_heap_change */
    const char *version[2]; /* before, now; borrowed; NULL: the snapshot has no such runtime */
};

/** What changed between two snapshots, and what both have in all. */
struct sxs_heap_changes {
    struct sxs_heap_change *all; /* types whose objects or bytes changed; what grew most is first,
                                  * what shrank most is last. Owned */
    size_t                  n, n_unchanged; /* types */
    struct sxs_heap_change  sum;            /* of all types, also of those that did not change */
    struct sxs_heap_versions *versions;       /* by number; owned */
    size_t                    n_versions;
};

/**
 * sxs_heap_changes - compare two snapshots.
 * @before, @now: must outlive the result. cmd/output/runtime_pairs.h says which
 * runtimes are compared.
 * @runtime: only of this runtime of @now; 0: of all.
 * Returns what the caller frees by sxs_heap_changes_free().
 */
struct sxs_heap_changes sxs_heap_changes(const struct sxs_heap_counts *before,
                                         const struct sxs_heap_counts *now, uint32_t runtime);
void                    sxs_heap_changes_free(struct sxs_heap_changes *c);

/** sxs_heap_versions_text - write which versions are compared: "runtime 1: 9.0.18 -> 10.0.11". Returns @buf,
 *  or NULL when both snapshots have the same version, so that nothing needs to be said. */
const char *sxs_heap_versions_text(const struct sxs_heap_versions *p, char *buf, size_t size);

/** What two compared snapshots are called: "session/4242/heap-1", and what their sessions lack. */
struct sxs_heap_sides {
    char               before[1400], now[1400];
    struct sxs_missing missing[2]; /* before, now; owned by the caller */
};

/**
 * Write a comparison: every type that changed as JSON or as a page; as text the @top types that
 * changed most, and the sum of the others that changed. @little: as text also those that changed by
 * less than a hundredth of the largest change.
 */
void sxs_heap_write_changes(FILE *to, const struct sxs_heap_sides *sides,
                            const struct sxs_heap_changes *c, size_t top, bool little);
void sxs_heap_write_changes_json(FILE *to, const struct sxs_heap_sides *sides,
                                 const struct sxs_heap_changes *c);
void sxs_heap_write_changes_html(FILE *to, const struct sxs_heap_sides *sides,
                                 const struct sxs_heap_changes *c);

/** The newest snapshot of each process of a session. */
struct sxs_heap_newest {
    struct sxs_heap_newest_process {
        uint32_t               pid;
        struct sxs_heap_counts counts;
    } * processes; /* owned */
    size_t   n;
    uint32_t runtime;  /* the one that was asked for; 0: all */
    char   **problems; /* owned lines: "123/heap-2: ..." */
    size_t   n_problems;
};

/** Like sxs_guests_report_reader() and its release function, for heap snapshots. @runtime: number of
 *  a runtime; 0: all runtimes. */
struct sxs_opened_reader sxs_heap_newest_reader(uint32_t runtime, struct sxs_heap_newest *out);
void sxs_heap_newest_free(struct sxs_heap_newest *h);

/** sxs_heap_newest_json - add the list "heap" to @top. Returns 0 or -1. */
int sxs_heap_newest_json(json_t *top, const struct sxs_heap_newest *h);

#endif
