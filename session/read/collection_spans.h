/* SPDX-License-Identifier: MIT */
/** collection_spans.h - converts the collections that the tool "gc" has recorded into spans of the tool "events", so
 *  that the timeline shows them. */
#ifndef SXS_SESSION_READ_COLLECTION_SPANS_H
#define SXS_SESSION_READ_COLLECTION_SPANS_H

#include "session/read/events_read.h"

/**
 * sxs_events_show_collections - add a span for each collection and for each of its pauses, as the
 * tool "events" records them, if that tool was off and "gc" was on. The text of a collection's span
 * is its reason. Sorts the spans by time. Returns 0, or ENOMEM and then changes nothing.
 */
int sxs_events_show_collections(struct sxs_events_data *e);

#endif
