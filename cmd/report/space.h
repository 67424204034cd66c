/* SPDX-License-Identifier: MIT */
/**
 * space.h - what lay at an address at a time: code of runtimes and ELF files of one process.
 */
#ifndef SXS_REPORT_PROFILE_SPACE_H
#define SXS_REPORT_PROFILE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Something at [lo, hi) from t0 until t1 (ns), or until a younger one covers the address. */
struct sxs_extent {
    uint64_t lo, hi, t0, t1;
    uint32_t what; /* the caller's number: frame of code, or module */
    uint32_t code; /* of code: the caller's number of its record */
    uint8_t  tier; /* of code */
    bool     is_code;
};

/** Zeroed: empty. Add, seal once, then find. */
struct sxs_space {
    struct sxs_extent *all;
    size_t             n, cap;
    uint64_t          *max_hi; /* of all[0..i] */
};

void sxs_space_add(struct sxs_space *s, const struct sxs_extent *e);
/** sxs_space_seal - sort; no more may be added. */
void sxs_space_seal(struct sxs_space *s);

/**
 * sxs_space_find - what was at @address at @time: the youngest that was there; else the next to
 * come, for names are often found a little after the first sample; else the last that was there.
 * @varies: receives whether another time may have another answer. NULL when nothing ever was there.
 */
const struct sxs_extent *sxs_space_find(const struct sxs_space *s, uint64_t address, uint64_t time,
                                        bool *varies);
void sxs_space_free(struct sxs_space *s);

#endif
