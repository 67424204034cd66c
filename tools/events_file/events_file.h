/* SPDX-License-Identifier: MIT */
/** file.h - the process's one file "events", for both tools, and the thread that makes room in it. */
#ifndef SXS_EVENTS_FILE_H
#define SXS_EVENTS_FILE_H

#include "manager/runtime.h"
#include "session/format/events.h"

/**
 * sxs_events_open - make the file, once; @tool is told to readers.
 * Returns the header, or NULL when it cannot be made, which one line has said. Any thread.
 */
struct sxs_events_header *sxs_events_open(const char *name, enum sxs_events_tool_bit tool);

/** Room for a record of @size bytes, zeroed but for its head; NULL: none. The file is open. Any
 *  thread, no lock. */
void *sxs_events_reserve(size_t size);

/** Makes it visible to readers. Any thread. */
void sxs_events_commit(void *record, enum sxs_event_record_type type);

/** The header; the file is open. */
struct sxs_events_header *sxs_events_head(void);

/** 1 in a forked child: the file is the parent's, nothing may be changed in it. */
int sxs_events_forked(void);

/** Takes a record out of readers' sight, to be filled again. */
void sxs_events_uncommit(void *record);

/** Number of a new name record with @text, 0 when there is no room. */
uint32_t sxs_events_add_name(const struct sxs_runtime *rt, const char *text);

/**
 * sxs_events_span - write what happened. @a, @b: see session/format/events.h.
 * Returns its record, in which tier, duration and tid may still be set; NULL when it was lost.
 */
struct sxs_event_span *sxs_events_span(const struct sxs_runtime *rt, enum sxs_event_kind kind,
                                       uint64_t from_ns, uint64_t duration_ns, uint32_t tid,
                                       const char *text, uint32_t a, uint32_t b, int failed);

#endif
