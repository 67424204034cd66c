/* SPDX-License-Identifier: MIT */
/** maps.h - the files that a process has mapped. Read from /proc/PID/maps. */
#ifndef SXS_CMD_PROCESSES_MAPS_H
#define SXS_CMD_PROCESSES_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A mapping of a file. Valid during the call that gets it. */
struct sxs_mapped_file {
    char     path[PATH_MAX]; /* absolute; without " (deleted)" */
    bool     deleted;        /* the file is not there any more, or is another one */
    bool     ambiguous; /* the kernel writes a line feed as "\012", and a backslash as it is: which
                              * file the path names is not known */
    unsigned major,
        minor;      /* of the device; btrfs and overlay file systems show another than stat() */
    uint64_t inode; /* overlay file systems may show another than stat() */
    uint64_t start, end; /* addresses */
};

/** How many mappings of a process are read. The kernel's own limit is 65530 unless it is changed. */
#define SXS_MAPS_MAX 300000

/**
 * sxs_maps_parse_line - parse a line of /proc/PID/maps: @len bytes, with or without a line feed.
 * Returns true for the mapping of a file; false, with @out undefined, for memory without a file, for a
 * path of PATH_MAX bytes or more, and for what is no such line.
 */
bool sxs_maps_parse_line(const char *line, size_t len, struct sxs_mapped_file *out);

/**
 * sxs_maps_each - call @each for the files that a process has mapped, by ascending addresses.
 * Mappings of one file that follow each other count once.
 * @dir: descriptor of /proc/PID.
 * @each: is called with @arg. A result other than 0 ends the search.
 * Returns 0, the result of @each that has ended the search, or an errno value: EACCES or EPERM when
 * the mappings may not be read, ESRCH when the process has ended, EOVERFLOW when it has more than
 * SXS_MAPS_MAX.
 */
int sxs_maps_each(int dir, int (*each)(void *arg, const struct sxs_mapped_file *f), void *arg);

#endif
