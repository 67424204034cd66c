/* SPDX-License-Identifier: MIT */
/**
 * segments.h - reads a folder of segments (docs/internals/keep.md), which continuous mode has recorded,
 * as one session.
 */
#ifndef SXS_CMD_OUTPUT_SEGMENTS_H
#define SXS_CMD_OUTPUT_SEGMENTS_H

#include <stdio.h>

#include <jansson.h>

#include "session/read/session_read.h"

#define SXS_SEGMENT_KEPT "kept" /* the folder of segments that a trigger keeps */

/** A segment, from its name and its file segment.json. */
struct sxs_segment {
    char     folder[80]; /* "20261124T101500Z-41", "kept/20261124T093000Z-3" */
    uint64_t number;
    uint64_t began_ns, ended_ns; /* CLOCK_REALTIME; ended_ns 0: runs, was killed, or is not known */
    uint64_t gap_ns;             /* since the end of the process's segment before; 0: its first */
    uint32_t pid;                /* 0: no file segment.json */
    uint64_t process_started;    /* clock ticks; with pid, names a process */
    bool     kept;
    bool     is_damaged;   /* segment.json is there, but says nothing that can be read */
    char     adapted[320]; /* why rates or length differ from the segment before; "" */
};

/** Segments that are listed, far more than a ring has; then the newest. */
#define SXS_SEGMENTS_MAX 16384u

/** The segments of a folder, in order of time. */
struct sxs_segments {
    struct sxs_segment *all; /* owned */
    size_t              n, cap;
    size_t              n_gone; /* deleted by their ring while they were read */
    size_t              n_left_out; /* too many to be read */
};

/**
 * sxs_segment_name - tell whether @name is a segment's: "20261124T101500Z-41".
 * @began_ns, @number: receive the two parts of the name; NULL: not needed. Pure.
 */
bool sxs_segment_name(const char *name, uint64_t *began_ns, uint64_t *number);

/**
 * sxs_segments_list - list the segments in the folder @dir.
 * @period: segments that overlap it are listed, also kept ones. If it is all time: the segments of the
 * ring, and the kept ones that are not older than those. @out: overwritten; release it with sxs_segments_free(), also
 * after an error. Returns 0, or an errno value when @dir cannot be opened. Damage to segment.json is
 * no error: its values are unknown then.
 */
int  sxs_segments_list(const char *dir, const struct sxs_period *period, struct sxs_segments *out);
void sxs_segments_free(struct sxs_segments *s);

/**
 * sxs_session_read_joined - read the session in the folder @dir, or, when it has none, the
 * segments in it as one session: equal processes become one, with a part in each segment.
 * @period: the time to read; NULL: all time. It is noted in @out->period.
 * @out: as in sxs_session_read(). @segments: receives the list, empty for an ordinary session; NULL:
 * not needed. Segments that vanish meanwhile are left out and counted.
 * Returns 0 or an errno value.
 */
int sxs_session_read_joined(const char *dir, const struct sxs_period *period,
                            struct sxs_session *out, struct sxs_segments *segments);

/** sxs_segments_text - write a line about all segments, and one for each change of the rates. */
void sxs_segments_text(FILE *to, const struct sxs_segments *s);

/** sxs_segments_json - return them as a JSON array, or NULL when out of memory. */
json_t *sxs_segments_json(const struct sxs_segments *s);

/**
 * sxs_segments_refuse - return a sentence for a verb that reads one session only, when @dir is a
 * folder of segments: "it has 12 segments; expected one of them: A, B ... Z". Else NULL. Owned.
 */
char *sxs_segments_refuse(const char *dir);

#endif
