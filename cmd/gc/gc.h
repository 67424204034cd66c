/* SPDX-License-Identifier: MIT */
/** gc.h - reports of collections, which the tool "gc" records in the file "events". */
#ifndef SXS_CMD_GC_GC_H
#define SXS_CMD_GC_GC_H

#include <stdio.h>

#include "cmd/events/events.h"

struct sxs_json_stream;

/** sxs_gc_zero_ns - return when the first of the processes began to record (CLOCK_MONOTONIC): the
 *  time 0 of text, JSON and page. */
uint64_t sxs_gc_zero_ns(const struct sxs_events_report *r);

/** sxs_gc_recorded - return true if the tool "gc" was on in one of the processes. */
bool sxs_gc_recorded(const struct sxs_events_report *r);

/**
 * sxs_gc_text - write tables of the collections of each runtime to @to: pauses by generation,
 * longest pauses, bytes of the generations.
 * @top: how many of the longest pauses; 0: 10. @runtime: number of a runtime; 0: all.
 */
void sxs_gc_text(FILE *to, const struct sxs_events_report *r, size_t top, uint32_t runtime);

/** sxs_gc_diff - write to @to, as text, how many collections of each version and generation session
 *  @a and session @b have, how long they paused, and what they freed and promoted. */
void sxs_gc_diff(FILE *to, const struct sxs_events_report *a, const struct sxs_events_report *b);

/** sxs_gc_json - write the key "gcs" to @to if the tool "gc" was on. Returns 0, or -1 when out of
 *  memory or when the output failed. */
int sxs_gc_json(struct sxs_json_stream *to, const struct sxs_events_report *r);

#endif
