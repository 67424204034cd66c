/* SPDX-License-Identifier: MIT */
/**
 * guests_read.h - reads the file "guests" of a process: the other profilers that ran as guests
 * (session/format/guests.h has the format).
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process.
 */
#ifndef SXS_SESSION_READ_GUESTS_READ_H
#define SXS_SESSION_READ_GUESTS_READ_H

#include <stdbool.h>

#include "session/format/guests.h"
#include "session/read/file_read.h"

/** One guest on one runtime: a copy of struct sxs_guest_row without atomics. */
struct sxs_guest_read {
    uint32_t runtime; /* number of the runtime in the census */
    uint32_t state;   /* enum sxs_guest_state: ACTIVE, FAILED, REFUSED or DETACHED */
    uint64_t callbacks, failures, ns, info_calls, info_refused;
    uint32_t low, high, result, callback_version;
    int32_t  priority;
    uint64_t start_took_ns;
    char     clsid[40], path[512], why[200]; /* end with a zero */
};

struct sxs_guests_data {
    struct sxs_guest_read *guests; /* owned; ordered by runtime, then as they were started */
    size_t                 n;
    bool                   has_children; /* forked children had no memory: they are counted here */
    uint32_t               n_unlisted; /* rows that the file had no room for */
    size_t                 n_problems;
    char                 **problems; /* owned lines without newline */
};

/**
 * sxs_guests_read - read the file "guests" in a process's folder.
 * @folder: the folder; borrowed. @out: receives the data; free them with sxs_guests_free().
 * @why: receives a line about a failure; holds @why_size bytes.
 * Rows of guests that were starting get the state FAILED: their process ended, or still starts them.
 * Rows of guests whose runtime has shut down get the state ACTIVE.
 * Returns 0; ENOENT when there is no such file; EINVAL when the file has another format; ENOMEM.
 * Any thread; not signal-safe.
 */
int  sxs_guests_read(const struct sxs_files *folder, struct sxs_guests_data **out, char *why,
                     size_t why_size);
void sxs_guests_free(struct sxs_guests_data *data); /* NULL is allowed */

#endif
