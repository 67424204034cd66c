/* SPDX-License-Identifier: MIT */
/** segment_file.h - the text of the files segment.json and trigger.json (docs/internals/keep.md).
 *  Pure functions. */
#ifndef SXS_CONTROL_RING_SEGMENT_FILE_H
#define SXS_CONTROL_RING_SEGMENT_FILE_H

#include <stddef.h>
#include <stdint.h>

#define SXS_SEGMENT_FILE "segment.json"
#define SXS_TRIGGER_FILE "trigger.json"
#define SXS_SEGMENT_TEXT 8192 /* bytes that are enough for either file */

/** The contents of segment.json. Times of day are CLOCK_REALTIME. */
struct sxs_segment_facts {
    uint64_t           number;
    int                pid;
    unsigned long long process_started; /* clock ticks */
    uint64_t           started_ns, ended_ns, gap_ns, every_ns;
    uint64_t           cpu_ns, own_cpu_ns;
    const char        *tools, *adapted; /* borrowed */
};

/** An event that keeps segments. */
struct sxs_trigger_event {
    uint64_t    time_ns; /* CLOCK_MONOTONIC */
    uint64_t    real_ns; /* CLOCK_REALTIME */
    const char *on;      /* the condition; borrowed, lives as long as the ring */
    char        what[256];
    uint64_t    left_out; /* events of this condition since the one before that were not kept */
};

/** sxs_segment_text - write segment.json to @out. */
void sxs_segment_text(const struct sxs_segment_facts *facts, char out[SXS_SEGMENT_TEXT]);

/** sxs_trigger_text - write trigger.json to @out, with those of the @n events whose @is_in is not 0. */
void sxs_trigger_text(const struct sxs_trigger_event *events, const unsigned char *is_in, size_t n,
                      char out[SXS_SEGMENT_TEXT]);

#endif
