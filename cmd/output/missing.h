/* SPDX-License-Identifier: MIT */
/**
 * missing.h - what a session lacks: everything that a tool dropped, cut or could not record, as the files of
 * the session count it; the lines of the library's log; processes that were left out; masked values.
 *
 * One list for all outputs: text and pages have it among their first lines, JSON as "missing", the other formats
 * on standard error. The table of counters is in missing.c; tests/lint/missing.py compares it with the counters
 * that session/format declares.
 */
#ifndef SXS_CMD_OUTPUT_MISSING_H
#define SXS_CMD_OUTPUT_MISSING_H

#include "session/read/file_read.h"
#include "session/read/session_read.h"

#include <jansson.h>
#include <stdio.h>

struct sxs_missing_item {
    const char *key;    /* "samples_dropped"; static */
    const char *folder; /* of the process, borrowed from the session; NULL: the whole session */
    uint64_t    n;      /* how many; 1 when there is nothing to count */
    char       *text; /* owned; one line: "process 4242: 7 samples dropped: no room in the file" */
};

struct sxs_missing {
    struct sxs_missing_item *all; /* owned */
    size_t                   n, cap;
};

/** A counter of something that is missing. */
struct sxs_missing_counter {
    const char *file;      /* of a process's folder */
    uint32_t    offset;    /* of the counter, 8 bytes, in the header of the file */
    bool        by_thread; /* in each thread of the file of calls instead */
    const char *key;
    const char *one, *what; /* "thread" (sxs_text_count()), and what follows it in a sentence */
};

/** sxs_missing_counters - return the table of counters, @n rows. Static. */
const struct sxs_missing_counter *sxs_missing_counters(size_t *n);

/** sxs_missing_count - add the counters of the files in a process's folder to @n, which has a place for each row of
 *  the table. A file that cannot be read adds nothing. */
void sxs_missing_count(const struct sxs_files *folder, uint64_t *n);

/**
 * sxs_missing_read - list what a session lacks.
 * @n: for each process, the counters of sxs_missing_count(); NULL: none.
 * @process: as for sxs_process_wanted(). @out: is overwritten; needs sxs_missing_free(), before
 * @session is freed. The log is that of these processes, too. A file that cannot be read adds
 * nothing, because its reader reports it.
 */
void sxs_missing_read(const struct sxs_session *session, const uint64_t *n, const char *process,
                      struct sxs_missing *out);

/** sxs_missing_text - write the list as the first lines of a report; nothing when nothing is missing. */
void sxs_missing_text(FILE *to, const struct sxs_missing *m);

/** sxs_missing_text_of - as above, of one side of a comparison. @when: "before" or "now", which begins each line. */
void sxs_missing_text_of(FILE *to, const char *when, const struct sxs_missing *m);

/** sxs_missing_json - return the list "missing" of JSON. The caller owns it; NULL: no memory. */
json_t *sxs_missing_json(const struct sxs_missing *m);

/** sxs_missing_free - free the list; a zeroed one is allowed. */
void sxs_missing_free(struct sxs_missing *m);

#endif
