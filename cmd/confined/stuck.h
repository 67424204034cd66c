/* SPDX-License-Identifier: MIT */
/**
 * stuck.h - tells whether a child that reads untrusted files makes progress.
 *
 * A file system that a process of another user serves (FUSE) can keep a reader waiting for as long as that
 * process likes, also where no signal ends the reader. So the child reads, and its parent looks whether it
 * reads, writes or computes anything.
 */
#ifndef SXS_CMD_CONFINED_STUCK_H
#define SXS_CMD_CONFINED_STUCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** What was seen last. Zeroed at first. */
struct sxs_stuck {
    unsigned long long done;  /* bytes and clock ticks */
    uint64_t           since; /* CLOCK_MONOTONIC, ns; 0: nothing was seen yet */
};

/** sxs_stuck_for - return true when the process @child has read, written and computed nothing for @ms
 *  milliseconds. Call it several times a second. */
bool sxs_stuck_for(struct sxs_stuck *s, pid_t child, unsigned ms);

#endif
