/* SPDX-License-Identifier: MIT */
/** maps.h - the files that a process has mapped. Read from /proc/PID/maps. */
#ifndef SXS_CMD_PROCESSES_MAPS_H
#define SXS_CMD_PROCESSES_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/** A mapping of a file. Valid during the call that gets it. */
struct sxs_mapped_file {
    char    *path;    /* as the process sees it; without " (deleted)" */
    bool     deleted; /* the file is not there any more, or is another one */
    uint64_t inode;
    char     range[40]; /* "START-END", its name in /proc/PID/map_files */
};

/**
 * sxs_maps_each - call @each for the files that a process has mapped, by ascending addresses.
 * Mappings of one file that follow each other count once.
 * @dir: descriptor of /proc/PID.
 * @each: is called with @arg. A result other than 0 ends the search.
 * Returns 0, the result of @each that has ended the search, or an errno value: EACCES or EPERM when
 * the mappings may not be read, ESRCH when the process has ended.
 */
int sxs_maps_each(int dir, int (*each)(void *arg, const struct sxs_mapped_file *f), void *arg);

#endif
