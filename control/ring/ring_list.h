/* SPDX-License-Identifier: MIT */
/**
 * ring_list.h - the list of segments: which ones exist, which must be deleted, and which are around an event.
 *
 * Times are CLOCK_MONOTONIC, so that a change of the system's clock deletes nothing. Segments of an
 * earlier process get the time in their names, as an age counted back from now. The functions are pure, apart from
 * allocating memory.
 */
#ifndef SXS_CONTROL_RING_RING_LIST_H
#define SXS_CONTROL_RING_RING_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "control/ring/segments.h"

/** A segment that has ended. */
struct sxs_ring_segment {
    char     name[SXS_SEGMENT_NAME];
    int64_t  from_ns, until_ns; /* may be negative: before the system was started */
    uint64_t bytes;
};

/** Segments from the oldest to the newest. Zeroed: none. */
struct sxs_ring_list {
    struct sxs_ring_segment *items; /* owned */
    size_t                   n, room;
    uint64_t                 bytes; /* sum */
};

/** sxs_ring_list_add - add the newest segment. Returns 0, or -1 when out of memory. */
int sxs_ring_list_add(struct sxs_ring_list *list, const struct sxs_ring_segment *segment);

/** sxs_ring_list_drop - remove segment @at. */
void sxs_ring_list_drop(struct sxs_ring_list *list, size_t at);

/** sxs_ring_list_free - remove all of them. */
void sxs_ring_list_free(struct sxs_ring_list *list);

/** What a ring may hold. */
struct sxs_ring_limits {
    uint64_t keep_ns, keep_bytes; /* 0: no limit */
};

/**
 * sxs_ring_is_too_much - return 1 if the oldest segment must be deleted.
 * @now_ns: segments that ended more than keep_ns before this time must be deleted. @other_bytes: the bytes of
 * the running segment, which is not in the list.
 */
int sxs_ring_is_too_much(const struct sxs_ring_list *list, const struct sxs_ring_limits *limits,
                         int64_t now_ns, uint64_t other_bytes);

/** sxs_ring_overlaps - return 1 if the time from @from_ns to @until_ns overlaps the SXS_RING_AROUND_NS before or after
 *  @event_ns. */
#define SXS_RING_AROUND_NS INT64_C(30000000000)
int sxs_ring_overlaps(int64_t from_ns, int64_t until_ns, int64_t event_ns);

/**
 * sxs_ring_times_of_name - place a segment of an earlier process.
 * @began_s: by its name. @now_s, @now_ns: the time of day, and CLOCK_MONOTONIC, of the same moment.
 * @every_ns: how long segments are. A time in the future counts as now.
 */
void sxs_ring_times_of_name(struct sxs_ring_segment *segment, uint64_t began_s, uint64_t now_s,
                            int64_t now_ns, uint64_t every_ns);

#endif
