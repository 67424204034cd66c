/* SPDX-License-Identifier: MIT */
/**
 * message.h - the messages between the command and the library: requests over the control socket,
 * their answers, and the client data of an attach.
 *
 * A message is text: a first line, lines "NAME=VALUE", and an empty line.
 *
 *     sxsprof 1 start\n
 *     tools=sample:hz=99\n
 *     out=/tmp/x\n
 *     \n
 *
 * First lines of requests: "sxsprof 1 VERB" with the verbs attach (client data of an attach), start,
 * stop, status, snapshot, detach. First lines of answers: "ok" or "error". In values, a backslash
 * and n is a line feed, two backslashes are one. Names are [a-z_]+, at most once in a message
 * unless said otherwise. At most SXS_CONTROL_MAX bytes, SXS_CONTROL_PAIRS lines. Unknown names are
 * ignored, so that a newer command can talk to an older library. Pure functions, any thread.
 *
 * Names in requests:  tools, out, pick, mask, id (manager/sessions.h); duration_ms: the library ends the
 *   session by itself after this time; detach=1: it also detaches from the runtimes then; hold=1: it
 *   also ends the session when the connection of the request is closed; timeout_ms. keep, segment, on,
 *   budget (as SXSPROF_KEEP, SXSPROF_SEGMENT, SXSPROF_ON, SXSPROF_BUDGET): the session is the first of a
 *   ring of segments (docs/internals/keep.md).
 * Names in answers:   why (a sentence, also after "ok": what was left out), phase (none|on|ending),
 *   number, id, tools, out, mask (as SXSPROF_MASK: what counts), ring (the folder of the segments,
 *   of which the session is one), started_ns, left_ms (until the session ends by itself), client
 *   (process ID of the client that has begun it), pid, version (of the library), and `runtime` once
 *   for each runtime: "NUMBER VERSION STATE live|ended PATH".
 */
#ifndef SXS_CONTROL_MESSAGE_MESSAGE_H
#define SXS_CONTROL_MESSAGE_MESSAGE_H

#include <stddef.h>

#define SXS_CONTROL_MAX     16384u /* bytes, with the empty line */
#define SXS_CONTROL_PAIRS   128u
#define SXS_CONTROL_VERSION 1u

struct sxs_message {
    char *text;                     /* the first line */
    size_t n;                        /* lines after it */
    char *names[SXS_CONTROL_PAIRS]; /* point into the parsed bytes */
    char *values[SXS_CONTROL_PAIRS];
};

/**
 * sxs_message_size - tell whether @bytes begins with a whole message.
 * Returns its size; 0: more bytes are needed; (size_t)-1: it will never be one (too long, a zero
 * byte). Pure.
 */
size_t sxs_message_size(const char *bytes, size_t size);

/**
 * sxs_message_parse - parse a message in place.
 * @bytes: @size bytes, what sxs_message_size() returned; changed, and referred to by @out.
 * Returns 0, or -1 with a sentence in @why (@why_size bytes).
 */
int sxs_message_parse(char *bytes, size_t size, struct sxs_message *out, char *why,
                      size_t why_size);

/** sxs_message_get - return the value of @name, or NULL. */
const char *sxs_message_get(const struct sxs_message *m, const char *name);

/** A message that is being written: sxs_message_begin() makes it empty; no memory is allocated. */
struct sxs_message_writer {
    char   bytes[SXS_CONTROL_MAX];
    size_t size;
    size_t n;    /* lines after the first */
    int    full; /* 1: a line did not fit and is missing */
};

/** sxs_message_begin, sxs_message_add, sxs_message_end - write the first line, a line, the empty
 *  line. @text: without line feeds. @value: NULL adds nothing. */
void sxs_message_begin(struct sxs_message_writer *w, const char *text);
void sxs_message_add(struct sxs_message_writer *w, const char *name, const char *value);
void sxs_message_addf(struct sxs_message_writer *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sxs_message_end(struct sxs_message_writer *w);

#endif
