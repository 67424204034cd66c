/* SPDX-License-Identifier: MIT */
/** worker_message.h - the messages between a worker (worker.h) and its command. */
#ifndef SXS_CMD_SYMBOLS_WORKER_MESSAGE_H
#define SXS_CMD_SYMBOLS_WORKER_MESSAGE_H

#include "cmd/symbols/worker_job.h"

#include <stddef.h>
#include <stdint.h>

/** The first byte of a message. A request has one of the last two. */
enum sxs_symbol_tell { SXS_TELL_ANSWER, SXS_TELL_LIMITED, SXS_TELL_FREE };

/** A request, or an answer. A worker also sends the first byte alone. */
struct sxs_symbol_message {
    uint8_t  tell;
    uint8_t  zero[3];
    uint32_t left_ms; /* of a request: the time that is left for files of others */
    uint8_t  bytes[SXS_SYMBOL_WORKER_MESSAGE] __attribute__((aligned(8)));
};

#define SXS_SYMBOL_HEAD offsetof(struct sxs_symbol_message, bytes)

/** The exit status of a worker that needs more memory than it may take. */
#define SXS_SYMBOL_NO_MEMORY 3

#endif
