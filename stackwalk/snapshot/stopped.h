/* SPDX-License-Identifier: MIT */
/** stopped.h - runtimes that are suspended, and the stacks of their threads. For snapshot.c. */
#ifndef SXS_STOPPED_H
#define SXS_STOPPED_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"

/** A suspended runtime and its threads. */
struct sxs_stopped {
    struct sxs_runtime *rt; /* a reference */
    struct sxs_stopped_thread {
        ThreadID id;
        uint32_t tid;
    } * threads; /* owned */
    size_t n_threads, cap_threads;
};

/** A thread whose stack is to be taken. */
struct sxs_due {
    uint32_t tid;
    uint64_t weight_ns;
    char     before; /* its state before anything was suspended, as in /proc: 'R' */
    unsigned missed; /* how often in a row it did not answer; brought up to date */
};

/** Lists the threads of a suspended runtime: none can come or go meanwhile. 0, or -1. */
int sxs_stopped_list(struct sxs_stopped *s);

/**
 * sxs_stopped_take - one thread's stack into a sample record, and the two accounts of it compared.
 * @all: what is suspended. The thread is asked to walk as well, by @ask (walk_request.h), and given up after some ms.
 * Returns the record, or NULL when there was no stack or no room for it.
 */
struct sxs_record_sample *sxs_stopped_take(struct sxs_samples_writer *w, const struct sxs_stopped *all, size_t n,
                      struct sxs_due *due, int (*ask)(uint32_t tid));

#endif
