/* SPDX-License-Identifier: MIT */
/**
 * events_read.h - reads the whole file "events" of a process (session/format/events.h has the
 * format) and orders it by time.
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process. Texts are
 * zero-terminated, and "" when not known. They are copied from the file as they are, so they may
 * contain control characters and bytes that are not UTF-8.
 */
#ifndef SXS_SESSION_READ_EVENTS_READ_H
#define SXS_SESSION_READ_EVENTS_READ_H

#include <stdbool.h>

#include "session/format/events.h"
#include "session/read/chunks_read.h"
#include "session/read/collections_read.h"
#include "session/read/session_read.h"
#include "session/read/thread_names_read.h"

/** A throw site, with counts of its exceptions.
 *  struct sxs_event_throw_site describes fields without a comment. */
struct sxs_events_throw_site {
    const char *type, *thrown, *caught; /* type, throwing function, catching function */
    uint32_t    runtime;
    uint8_t     fate; /* enum sxs_exception_fate */
    bool        rethrown;
    uint64_t    n, total_ns, last_ns;
    const char *message; /* message of one of these exceptions, "" when none is known */
};

/** One exception. struct sxs_event_exception describes fields without a comment. */
struct sxs_events_exception {
    uint64_t    time_ns, duration_ns;
    uint32_t    tid, runtime;
    uint8_t     fate;
    bool        rethrown, cut; /* cut: the message was longer */
    bool        landed;        /* true: its throw site counts it; false: it was in flight */
    const char *type, *thrown, *caught, *message;
};

/** One event of a runtime. struct sxs_event_span describes fields without a comment. */
struct sxs_events_span {
    uint64_t    time_ns, duration_ns;
    uint64_t    pause_ns; /* of a collection that the tool "gc" recorded; else 0 */
    uint32_t    tid, runtime, a, b;
    uint8_t     kind; /* enum sxs_event_kind */
    uint8_t     tier; /* enum sxs_code_tier */
    bool        failed;
    const char *text;
};

struct sxs_events_data {
    struct sxs_events_header     head;
    struct sxs_events_throw_site
        *throw_sites;                        /* equal throw sites are joined; highest count first */
    struct sxs_events_exception *exceptions; /* by time */
    struct sxs_events_span      *spans;      /* by time */
    struct sxs_events_collection *collections; /* by runtime, then time */
    size_t                       n_throw_sites, n_exceptions, n_spans, n_collections;
    char                       **problems; /* lines that describe the damage in the file */
    size_t                       n_problems;
    char                       **names; /* in the order of the file */
    size_t                       n_names;
    char                       **texts; /* all other texts */
    size_t                       n_texts, cap_texts, cap_throw_sites, cap_exceptions, cap_spans,
        cap_collections;
    struct sxs_thread_names thread_names;
    size_t n_joined_throw_sites; /* n_throw_sites when equal ones were joined last */
};

/**
 * sxs_events_join - add the events of @from, a later file of the same process, to those of @into. When all files
 * are added, call sxs_events_joined(), which puts the lists into order.
 * Frees @from, or leaves it as the memory of texts to @into. Returns 0, or ENOMEM: then @from is
 * freed and @into as it was.
 */
int  sxs_events_join(struct sxs_events_data *into, struct sxs_events_data *from);
void sxs_events_joined(struct sxs_events_data *e);

/** sxs_events_thread_name - return what the thread @tid is called at a time: never NULL, borrowed. The names
 *  that only the kernel knows are not in the file. */
const char *sxs_events_thread_name(const struct sxs_events_data *e, uint32_t tid, uint64_t time_ns);

/** sxs_events_cut - leave out what began outside of a period. The counts of throw sites become those
 *  of the recorded exceptions. All time changes nothing. */
void sxs_events_cut(struct sxs_events_data *e, const struct sxs_period *period);

/** sxs_events_order - join equal throw sites, give them messages, and order everything. */
void sxs_events_order(struct sxs_events_data *e);

/** sxs_throw_site_order - compare two throw sites by what they are, for qsort(). */
int sxs_throw_site_order(const void *a, const void *b);

/** sxs_throw_site_of - return the throw site of an exception; NULL: it has none. Throw sites are sorted
 *  by sxs_throw_site_order(). Borrowed from @e. */
struct sxs_events_throw_site *sxs_throw_site_of(const struct sxs_events_data      *e,
                                                const struct sxs_events_exception *v);

/** The kind of file, for sxs_chunk_follow_open(). */
extern const struct sxs_chunk_file sxs_events_kind;

/**
 * sxs_events_read - read the file "events" in a process's folder.
 * @folder: the folder; borrowed.
 * @out: receives the data, owned by the caller; free it by sxs_events_free(). NULL after a failure.
 * @why: receives one line about a failure, at most @why_size bytes.
 * Returns 0, ENOENT when the process has no such file (which is normal), EINVAL when the file has
 * another format, or another errno value.
 */
int  sxs_events_read(const struct sxs_files *folder, struct sxs_events_data **out, char *why,
                     size_t why_size);
void sxs_events_free(struct sxs_events_data *e);

/** Return the text of a fate: "caught", "unhandled"... If the process ended irregularly and no crash
 *  would have been noticed, exceptions without a catcher may be its cause, and the text says so.
 *  Static string. */
const char *sxs_fate_text(const struct sxs_events_data *e, uint8_t fate);
/** Return the text of an enum sxs_event_kind: "gc", "jit"... Static string. */
const char *sxs_event_kind_text(uint8_t kind);

#endif
