/* SPDX-License-Identifier: MIT */
/** base/maps.h - read the memory mappings of this process, in /proc/self/maps. */
#ifndef SXS_BASE_MAPS_H
#define SXS_BASE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct sxs_mapping {
    uintptr_t     start, end;     /* addresses, half-open */
    char          permissions[4]; /* "rwxp" with '-' for each permission that is missing; no zero */
    unsigned long inode;          /* 0: the mapping belongs to no file */
    const char   *path;           /* a path or [name]; "" if the mapping has neither */
};

/**
 * sxs_maps_parse - parse one line of /proc/self/maps.
 * @line: without its end of line. out->path points into @line.
 * Returns 0, or -1 when @line is not such a line. Signal-safe.
 */
int sxs_maps_parse(const char *line, struct sxs_mapping *out);

/**
 * sxs_maps_each - call @mapping(m, @arg) for each mapping, in ascending order of addresses, until
 * @mapping returns nonzero.
 * @mapping: runs on the thread of base/descriptors.h, so it must not log and must not take a lock
 *           that the caller holds. The path of the mapping is valid during the call.
 * Returns the last result of @mapping, 0 if there are no mappings, or -errno when the file cannot
 * be read. Allocates nothing. Any thread; not signal-safe.
 */
int sxs_maps_each(int (*mapping)(const struct sxs_mapping *m, void *arg), void *arg);

/**
 * sxs_maps_find - find the mapping that contains @address.
 * @path: @size bytes that receive the path, shortened if it is longer; out->path points to it.
 *        With @size 0, out->path is "".
 * Returns 0, or -1 when nothing is mapped there or the file cannot be read. Not signal-safe.
 */
int sxs_maps_find(uintptr_t address, struct sxs_mapping *out, char *path, size_t size);

#endif
