/* SPDX-License-Identifier: MIT */
/**
 * functions.h - sums by function, of one selection or of two that are compared. One thread.
 *
 * The server has a frame for each version of a runtime. In a comparison the version is not part of
 * what is matched: cmd/output/runtime_pairs.h says which version's frame is compared with which.
 */
#ifndef SXS_CMD_FLEET_FUNCTIONS_H
#define SXS_CMD_FLEET_FUNCTIONS_H

#include "cmd/fleet/select.h"
#include "cmd/fleet/server.h"

/** What the samples of a selection add up to, by function. */
struct sxs_fleet_function {
    uint64_t frame;                   /* 0: no frame */
    uint64_t other_frame;             /* of the other selection, or the same */
    uint64_t self, total;             /* recursion counted once */
    uint64_t other_self, other_total; /* of the other selection */
};

/** Functions, heaviest first. */
struct sxs_fleet_functions {
    struct sxs_fleet_function *all; /* owned */
    size_t                     n, cap;
    uint64_t                   count, value;             /* of all samples */
    uint64_t                   other_count, other_value; /* likewise */
};

/**
 * sxs_fleet_functions - sum up the samples of @s by function, in the server.
 * @other: another selection, or NULL. Then the order is that of the difference between the two,
 * each as a share of its selection's total, else that of self.
 * @limit: how many functions. @out: overwritten; release `all` with free() in both cases.
 * Returns 0, or -1 with one line in @why.
 */
int sxs_fleet_functions(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                        const struct sxs_fleet_selection *other, size_t limit,
                        struct sxs_fleet_functions *out, char *why, size_t size);

/** The sums of one frame in two selections. */
struct sxs_fleet_sums {
    uint64_t function; /* the same for the frames of all versions; 0: no frame of a runtime */
    uint64_t frame;
    char    *version;           /* of the runtime; owned */
    uint64_t self[2], total[2]; /* by selection; total 0: the frame is not in it */
};

/**
 * sxs_fleet_match - match the frames of two selections, and list the functions that changed most in
 * @out->all.
 * @sums: @n frames, none twice; sorted here. @limit: how many functions. @out: has no function yet;
 * its sums of all samples are set.
 */
void sxs_fleet_match(struct sxs_fleet_sums *sums, size_t n, size_t limit,
                     struct sxs_fleet_functions *out);

#endif
