/* SPDX-License-Identifier: MIT */
/**
 * queue_entry.h - the bytes of a batch in the queue: one line of JSON, then the bodies of the
 * requests. Private to cmd/push/queue*.c.
 */
#ifndef SXS_CMD_PUSH_QUEUE_ENTRY_H
#define SXS_CMD_PUSH_QUEUE_ENTRY_H

#include "cmd/push/out.h"

/** What the line says beside the requests. */
struct sxs_push_note {
    char     batch[33];
    char    *source; /* owned */
    uint64_t next_ns;
};

/** sxs_push_entry_line - return the line for a batch; owned, with its newline; NULL: out of memory. */
char *sxs_push_entry_line(const struct sxs_push_out *requests, const char *batch,
                          const char *source, uint64_t next_ns);

/**
 * sxs_push_entry_parse - read the bytes of a batch's file. Files are untrusted.
 * @requests: overwritten; release it, also after a failure. NULL: only the note is wanted. @note:
 * overwritten; release its source. Returns 0, or -1 when the bytes are no batch. */
int sxs_push_entry_parse(const void *bytes, size_t size, struct sxs_push_out *requests,
                         struct sxs_push_note *note);

#endif
