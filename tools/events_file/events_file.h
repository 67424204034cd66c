/* SPDX-License-Identifier: MIT */
/** events_file.h - writes the file "events", of which a process has one. The tools "exceptions" and
 *  "events" share the file. A service thread makes room in it. */
#ifndef SXS_TOOLS_EVENTS_FILE_EVENTS_FILE_H
#define SXS_TOOLS_EVENTS_FILE_EVENTS_FILE_H

#include "manager/runtime.h"
#include "session/format/events.h"

/**
 * sxs_events_open - make the file at the first call, and add @tool to the tools in its header.
 * @name: the tool's name, for messages. Returns the header, or NULL when the file cannot be made;
 * one line is logged. Any thread.
 */
struct sxs_events_header *sxs_events_open(const char *name, enum sxs_events_tool_bit tool);

/** sxs_events_close - end the use of the file by @tool, which no thread writes to for it any more.
 *  When the last tool has done so, joins the service thread, completes the file and closes it. For
 *  end_session() of the tools; does nothing for a tool that has not opened the file. */
void sxs_events_close(enum sxs_events_tool_bit tool);

/** sxs_events_reserve - return room for a record of @size bytes, zeroed except for its head, or NULL
 *  when there is none. The file must be open. Any thread; takes no lock. */
void *sxs_events_reserve(size_t size);

/** sxs_events_commit - make a reserved record visible to readers. Any thread. */
void sxs_events_commit(void *record, enum sxs_event_record_type type);

/** sxs_events_head - return the header. The file must be open. */
struct sxs_events_header *sxs_events_head(void);

/** sxs_events_forked - return 1 in a forked child, else 0. The file belongs to the parent, so the
 *  child must not change it. Signal-safe. */
SXS_SIGSAFE int sxs_events_forked(void);

/** sxs_events_uncommit - hide a record from readers, so that the record can be filled again. */
void sxs_events_uncommit(void *record);

/** sxs_events_add_name - write a name record with @text. Returns its number, or 0 when there is no
 *  room. */
uint32_t sxs_events_add_name(const struct sxs_runtime *rt, const char *text);

/**
 * sxs_events_span - write a record of something that happened in a runtime. @a, @b: their meaning
 * depends on @kind, see session/format/events.h.
 * Returns the record, in which tier, duration and tid may be set later. Without room, returns NULL
 * and counts the event as lost.
 */
struct sxs_event_span *sxs_events_span(const struct sxs_runtime *rt, enum sxs_event_kind kind,
                                       uint64_t from_ns, uint64_t duration_ns, uint32_t tid,
                                       const char *text, uint32_t a, uint32_t b, int failed);

#endif
