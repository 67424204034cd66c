/* SPDX-License-Identifier: MIT */
/** link.h - a connection to the library in a process: its control socket. */
#ifndef SXS_CMD_ATTACH_LINK_H
#define SXS_CMD_ATTACH_LINK_H

#include "cmd/processes/process.h"
#include "control/message/message.h"

/** An answer. */
struct sxs_link_answer {
    char               bytes[SXS_MESSAGE_MAX]; /* the message refers to them */
    struct sxs_message message;
};

/**
 * sxs_link_open - connect to the library in @p, as its user and in its network.
 * @fd: receives the connection, non-blocking and close-on-exec, or -1.
 * Returns 0 or an errno value: ECONNREFUSED when the process has no control socket.
 */
int sxs_link_open(const struct sxs_process *p, int *fd);

/**
 * sxs_link_ask - send a request and receive its answer.
 * @why: receives a sentence when the result is not 0; @size bytes.
 * Returns 0 for an answer "ok", EREMOTEIO for an answer "error" (@why is the library's reason), or
 * an errno value: ECONNRESET, ETIMEDOUT, EBADMSG.
 */
int sxs_link_ask(int fd, const struct sxs_message_writer *request, unsigned timeout_ms,
                 struct sxs_link_answer *answer, char *why, size_t size);

/** sxs_link_request - open a connection, ask, and close it. As the two above. */
int sxs_link_request(const struct sxs_process *p, const struct sxs_message_writer *request,
                     unsigned timeout_ms, struct sxs_link_answer *answer, char *why, size_t size);

/** sxs_link_live - return how many runtimes the answer calls live. */
size_t sxs_link_live(const struct sxs_link_answer *answer);

#endif
