/* SPDX-License-Identifier: MIT */
/**
 * control_client.h - requests to the library in a running process, over its control socket
 * (docs/internals/live.md).
 *
 * Before anything is sent, the process at the other end is compared with the one that is meant, so
 * that another process that has taken the name of its socket cannot answer in its place.
 */
#ifndef SXS_CMD_PROCESSES_CONTROL_CLIENT_H
#define SXS_CMD_PROCESSES_CONTROL_CLIENT_H

#include <stdbool.h>

#include "cmd/processes/process.h"
#include "control/message/message.h"

#define SXS_CONTROL_WHY 400 /* bytes that are enough for a reason */

/** An answer. Zero it. Its texts come from another process: see sxs_text_clean(). */
struct sxs_control_answer {
    struct sxs_message message; /* points into `bytes` */
    char               bytes[SXS_CONTROL_MAX];
};

/**
 * sxs_control_connect - connect to the control socket of @p, as its user and in its network. Waits at
 * most five seconds while the queue of connections is full, and not beyond the deadline (deadline.h).
 * @fd: receives the socket; close it.
 * Returns 0 or an errno value with a sentence in @why: ECONNREFUSED when the process has no control
 * socket (@why says why not, as far as it can be seen); EPERM when this user may not, or another process
 * else has the name.
 */
int sxs_control_connect(const struct sxs_process *p, int *fd, char why[SXS_CONTROL_WHY]);

/** sxs_control_is_in - tell whether the library is in the process, as far as it can be seen: by its file, or by its
 *  control thread. */
bool sxs_control_is_in(const struct sxs_process *p);

/**
 * sxs_control_ask - send @request and wait for the answer.
 * @request: finished by sxs_message_end().
 * @timeout_ms: for the whole of it, as long as the deadline (deadline.h) has not passed. From its first
 * byte on, the answer has three seconds.
 * Returns 0 with the answer "ok" in @answer; or an errno value with a sentence in @why: EREMOTEIO
 * when the answer is "error" (then @answer has it, and @why its reason), ETIMEDOUT, ECONNRESET when
 * the process has closed the connection, EPROTO when the answer is not understood.
 */
int sxs_control_ask(int fd, const struct sxs_message_writer *request,
                    struct sxs_control_answer *answer, int timeout_ms, char why[SXS_CONTROL_WHY]);

/** How to wait for an answer that may take long: a session that ends. */
struct sxs_control_wait {
    const struct sxs_process *process; /* borrowed */
    void (*waits)(void *arg); /* called every two seconds without an answer; NULL: nothing */
    void *arg;
};

/**
 * sxs_control_ask_watching - as sxs_control_ask(), for a request whose answer may take long.
 * While there is no answer, asks the process for its status every two seconds. Gives up, with
 * ETIMEDOUT, when it does not answer that within eight seconds. So a process can make this command
 * wait, up to @timeout_ms, only as long as it goes on answering.
 */
int sxs_control_ask_watching(int fd, const struct sxs_message_writer *request,
                             struct sxs_control_answer *answer, int timeout_ms,
                             const struct sxs_control_wait *wait, char why[SXS_CONTROL_WHY]);

/** sxs_control_masks - return whether the session that @answer describes masks as many values as @wanted
 *  says (SXSPROF_MASK; NULL: nothing). A library that does not know the setting says nothing. Pure. */
bool sxs_control_masks(const struct sxs_control_answer *answer, const char *wanted);

/** sxs_control_request - begin the request @verb: "start". */
void sxs_control_request(struct sxs_message_writer *request, const char *verb);

#endif
