/* SPDX-License-Identifier: MIT */
/** snapshots.h - finds the heap snapshots of a session. */
#ifndef SXS_CMD_HEAP_SNAPSHOTS_H
#define SXS_CMD_HEAP_SNAPSHOTS_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/output/opened.h"

/** A snapshot. */
struct sxs_heap_place {
    const struct sxs_session_process *process; /* borrowed from the session */
    uint32_t                          number;
    uint64_t                          started_ns; /* CLOCK_REALTIME */
};

/**
 * sxs_heap_places - list the snapshots of a session, the newest first.
 * @process: as for sxs_process_wanted(). @n: receives their number.
 * Snapshots whose header cannot be read come last. Returns an owned list.
 */
struct sxs_heap_place *sxs_heap_places(const struct sxs_opened *v, const char *process, size_t *n);

/** sxs_heap_newest_number - return the number of the last snapshot in a process's folder
 *  @folder_fd (borrowed); 0: none. */
uint32_t sxs_heap_newest_number(int folder_fd);

#endif
