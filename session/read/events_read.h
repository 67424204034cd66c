/* SPDX-License-Identifier: MIT */
/**
 * events_read.h - read a process's file "events" back (events.h has its bytes), whole, by time.
 *
 * The file is taken as untrusted: it may be cut, garbled, or still be written by a living process.
 */
#ifndef SXS_RECORD_EVENTS_READ_H
#define SXS_RECORD_EVENTS_READ_H

#include <stdbool.h>

#include "session/format/events.h"

/** Texts are zero-terminated, "" when not known, and as they were in the file: control characters and
 *  bytes that are not UTF-8 may be among them. */
struct sxs_events_site {
    const char *type, *thrown, *caught;
    uint32_t    runtime;
    uint8_t     fate; /* enum sxs_exception_fate */
    bool        rethrown;
    uint64_t    n, total_ns, last_ns;
    const char *message; /* of one of them, "" when none is known */
};

struct sxs_events_exception {
    uint64_t    time_ns, duration_ns;
    uint32_t    tid, runtime;
    uint8_t     fate;
    bool        rethrown, cut;
    bool        landed; /* its site counts it; else it was under way when the file was read */
    const char *type, *thrown, *caught, *message;
};

struct sxs_events_span {
    uint64_t    time_ns, duration_ns;
    uint32_t    tid, runtime, a, b;
    uint8_t     kind; /* enum sxs_event_kind */
    uint8_t     tier; /* enum sxs_code_tier */
    bool        failed;
    const char *text;
};

struct sxs_events_data {
    struct sxs_events_header     head;
    struct sxs_events_site      *sites; /* equal ones joined; by count, highest first */
    struct sxs_events_exception *exceptions; /* by time */
    struct sxs_events_span      *spans;      /* by time */
    size_t                       n_sites, n_exceptions, n_spans;
    char                       **problems; /* lines: what was not whole */
    size_t                       n_problems;
    char                       **names; /* by number; NULL: none */
    size_t                       n_names;
    char                       **texts; /* all others */
    size_t                       n_texts, cap_texts, cap_sites, cap_exceptions, cap_spans;
};

/**
 * sxs_events_read - the file "events" in a process's folder.
 * @folder_fd: borrowed. @out: receives the data: sxs_events_free(). NULL on failure.
 * @why: one line about a failure. Returns 0, ENOENT when the process has none (no reason for
 * concern), EINVAL when the file is none of ours, or another errno value.
 */
int  sxs_events_read(int folder_fd, struct sxs_events_data **out, char *why, size_t why_size);
void sxs_events_free(struct sxs_events_data *e);

/** "caught", "unhandled"... What was searching when the file was read is unhandled if the process
 *  ended without saying so, and "under way" else. Static. */
const char *sxs_fate_text(const struct sxs_events_data *e, uint8_t fate);
/** "gc", "jit"... Static. */
const char *sxs_event_kind_text(uint8_t kind);

#endif
