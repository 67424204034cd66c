/* SPDX-License-Identifier: MIT */
/** space.h - find which code or ELF file was at an address at a given time, in one process. */
#ifndef SXS_CMD_REPORT_SPACE_H
#define SXS_CMD_REPORT_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Code or a module at [lo, hi), from t0 until t1 (ns) or until a younger extent covers the address.
 */
struct sxs_extent {
    uint64_t lo, hi, t0, t1;
    uint32_t what; /* the caller's number: frame of the code, or module */
    uint32_t code; /* code: the caller's number of its record */
    uint8_t  tier; /* code: its enum sxs_code_tier */
    bool     is_code;
};

/**
 * A set of extents; empty when zeroed. First add extents, then seal the set, then search it. More
 * can be added later; then it must be sealed again.
 */
struct sxs_space {
    struct sxs_extent *all;
    size_t             n, cap;
    size_t             n_sealed; /* extents that were there when it was sealed last */
    uint64_t          *max_hi; /* highest hi of all[0] to all[i] */
};

void sxs_space_add(struct sxs_space *s, const struct sxs_extent *e);
/**
 * sxs_space_seal - sort the extents. The time is proportional to their number, and to n log n of the
 * n that are new. Their indexes in `all` change.
 * Returns true when a new extent covers addresses of an older one, so that an address that was found
 * before may have another result now. */
bool sxs_space_seal(struct sxs_space *s);

/** sxs_space_end_module - end, at @time, every module at @lo that began before. The set is sealed. */
void sxs_space_end_module(struct sxs_space *s, uint64_t lo, uint64_t time);

/**
 * sxs_space_find - find the extent that contains @address at @time.
 * Of several, the youngest is chosen. When there is none at that time, the next one after it is
 * chosen, because names are often recorded a little after the first sample; else the last one
 * before it.
 * @varies: receives whether another time can have another result.
 * Returns NULL when no extent ever contained the address.
 */
const struct sxs_extent *sxs_space_find(const struct sxs_space *s, uint64_t address, uint64_t time,
                                        bool *varies);
void sxs_space_free(struct sxs_space *s);

#endif
