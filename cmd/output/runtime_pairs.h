/* SPDX-License-Identifier: MIT */
/**
 * runtime_pairs.h - chooses, for each runtime of one session, the runtime of another session to compare it with.
 *
 * A comparison of two sessions has two sides, 0: before, and 1: now. Each runtime of a side is
 * paired with at most one runtime of the other side. A pair of runtimes is found by the first of
 * these rules that applies; where a rule leaves a choice, the newest versions are paired first, and
 * equal versions in the order of their numbers:
 *
 *   1. same version and same number
 *   2. same version
 *   3. same major and minor version, such as 9.0.18 and 9.0.23
 *   4. any other version
 *
 * The functions of a runtime are compared with those of its partner (sxs_runtime_pairs_choose()). If
 * the partner does not have a function, the same rules choose a runtime for it that has no partner
 * of its own, such as the newer one of two that now do the work of one. No runtime is used twice for
 * one function, so that two runtimes of one session are never added up.
 */
#ifndef SXS_CMD_OUTPUT_RUNTIME_PAIRS_H
#define SXS_CMD_OUTPUT_RUNTIME_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_paired_runtime {
    const char *version;  /* borrowed */
    uint32_t    number;   /* within its process; 0: not known */
    uint32_t    partner;  /* index + 1 on the other side; 0: none */
    unsigned    minor[2]; /* major and minor version; 0 where there is none */
};

/** Zeroed it is empty. */
struct sxs_runtime_pairs {
    struct sxs_paired_runtime *of[2]; /* by side; owned; newest version first, then by number */
    size_t                     n[2], cap[2];
};

/** sxs_runtime_newest_first - compare two versions: below 0 when @a is newer, 0 when they are equal. */
int sxs_runtime_newest_first(const char *a, const char *b);

/** sxs_runtime_pairs_add - add a runtime of one side. The same one may be added several times. */
void sxs_runtime_pairs_add(struct sxs_runtime_pairs *p, int side, const char *version,
                           uint32_t number);

/** sxs_runtime_pairs_match - pair the runtimes, when all are added. */
void sxs_runtime_pairs_match(struct sxs_runtime_pairs *p);

/** sxs_runtime_pairs_find - return the index of a runtime that was added, after the match. */
uint32_t sxs_runtime_pairs_find(const struct sxs_runtime_pairs *p, int side, const char *version,
                                uint32_t number);

/** The runtimes of one side that have a function. */
struct sxs_runtimes_of {
    const uint32_t *all;     /* indexes in struct sxs_runtime_pairs.of, ascending, none twice */
    uint32_t       *partner; /* by position in `all`: position in the other list + 1; 0: none */
    size_t          n;
};

/** sxs_runtime_pairs_choose - set the partners of the runtimes that have one function. */
void sxs_runtime_pairs_choose(const struct sxs_runtime_pairs *p,
                              const struct sxs_runtimes_of    of[2]);

/**
 * sxs_runtime_pair_version - write the version of a pair: "9.0.18", or "9.0.18 -> 10.0.11" when the
 * sides differ. @before, @now: versions; NULL: the pair has no such side. Returns @buf.
 */
const char *sxs_runtime_pair_version(const char *before, const char *now, char *buf, size_t size);

void sxs_runtime_pairs_free(struct sxs_runtime_pairs *p);

#endif
