/* SPDX-License-Identifier: MIT */
/**
 * sender.h - sends what is in the queue, with repetitions.
 *
 * A batch is sent at least once: when the answer to a request is lost, or the command is killed
 * before it has noted the answer, all requests of the batch are sent again. Each has the header
 * "Sxsprof-Batch" with the id of the batch, by which a receiver can recognize it. Targets that can
 * join batches get several at once; the header has the id of the first. If these are refused, they are
 * sent one by one, so that one bad batch costs no other.
 */
#ifndef SXS_CMD_PUSH_SENDER_H
#define SXS_CMD_PUSH_SENDER_H

#include "cmd/http/http.h"
#include "cmd/push/queue.h"
#include "cmd/push/target.h"

/** So many batches, and about so many bytes, are sent as one. */
enum { SXS_PUSH_GROUP = 32, SXS_PUSH_GROUP_BYTES = 4 << 20 };

struct sxs_push_sender {
    const struct sxs_push_target *target;
    char                         *base; /* owned by the caller */
    struct sxs_http              *http;
    struct sxs_push_queue        *queue;
    void                         *joining;       /* owned; of target->joining; NULL: none */
    size_t                        alone;         /* so many batches are sent one by one */
    unsigned                      failures;      /* in a row */
    uint64_t                      next_ns;       /* CLOCK_MONOTONIC: not before; 0: now */
    uint64_t                      failing_ns;    /* since when; 0: the last request was accepted */
    bool                          stopped;       /* the last answer was a stop */
    char                          reported[600]; /* the last message */
};

/**
 * sxs_push_send - send batches until the queue is empty or a request fails. Prints a line about a
 * failure, if it is another one than before.
 * Returns true when the queue is empty. Otherwise next_ns says when to call it again. */
bool sxs_push_send(struct sxs_push_sender *s);

/** sxs_push_delay_ns - return how long to wait after the failure number @failures (from 1): 1 s,
 *  twice as long each time, at most a minute, of which a random part of up to a half is left out.
 *  @asked_s: the time that the server asks for; 0: none; at most ten minutes are waited. */
uint64_t sxs_push_delay_ns(unsigned failures, long asked_s, unsigned random);

/** sxs_push_now_ns - return CLOCK_MONOTONIC. */
uint64_t sxs_push_now_ns(void);

#endif
