/* SPDX-License-Identifier: MIT */
/** requests.h - carries out the requests that arrive at the control socket, and writes their answers. */
#ifndef SXS_CONTROL_REQUESTS_H
#define SXS_CONTROL_REQUESTS_H

#include <stdint.h>

#include "control/message/message.h"

/** Verbs of requests. */
enum sxs_request_verb {
    SXS_REQUEST_UNKNOWN,
    SXS_REQUEST_STATUS, /* answered at once, by sxs_request_status() */
    SXS_REQUEST_START,  /* this and the following: by sxs_request_run() on the session thread */
    SXS_REQUEST_STOP,
    SXS_REQUEST_SNAPSHOT,
    SXS_REQUEST_DETACH,
};

/** A request that is run. */
struct sxs_request {
    enum sxs_request_verb      verb;
    const struct sxs_message  *message; /* borrowed */
    struct sxs_message_writer *answer;  /* borrowed; receives the whole answer */
    int                        client;  /* process ID of the client; 0: not visible from here */
    /* Received from sxs_request_run(). */
    unsigned holds;  /* number of the session that ends with the connection; 0: none */
    int      detach; /* and the runtimes are detached then */
};

/**
 * sxs_request_verb_of - read the first line of a request.
 * @why: receives a sentence when the result is SXS_REQUEST_UNKNOWN; @why_size bytes. Pure.
 */
enum sxs_request_verb sxs_request_verb_of(const char *text, char *why, size_t why_size);

/** sxs_request_status - write the answer to `status`. Waits for nothing. Any thread. */
void sxs_request_status(struct sxs_message_writer *answer);

/** sxs_request_refuse - write an answer "error" with the reason @why. Pure. */
void sxs_request_refuse(struct sxs_message_writer *answer, const char *why);

/** sxs_request_run - do what @request says. Only on the session thread. */
void sxs_request_run(struct sxs_request *request);

/** sxs_request_permit_code - from now on, requests over the socket may have tools load code:
 *  SXSPROF_CONTROL=code. Before the threads start. */
void sxs_request_permit_code(void);

/** sxs_request_note_library - find out by which path the loader knows the library: `library` in answers. To a runtime
 *  that loads this path, the loader gives this copy, whatever has become of the file. Takes the
 *  loader's lock, so it is called once, before the threads start. */
void sxs_request_note_library(void);

/**
 * sxs_request_limit - read duration_ms of @message.
 * @ms: receives the milliseconds; 0: the session has no time limit.
 * Returns 0, or -EINVAL with a sentence in @why (@why_size bytes). Pure.
 */
int sxs_request_limit(const struct sxs_message *message, uint64_t *ms, char *why, size_t why_size);

/** sxs_request_asks - return 1 if @message has @name with the value 1. Pure. */
int sxs_request_asks(const struct sxs_message *message, const char *name);

#endif
