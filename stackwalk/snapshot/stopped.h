/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/snapshot/stopped.h - takes the stacks of threads while runtimes are suspended. Used
 * by tools/sample/snapshot.c. */
#ifndef SXS_STACKWALK_SNAPSHOT_STOPPED_H
#define SXS_STACKWALK_SNAPSHOT_STOPPED_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"

/** A suspended runtime and its threads. */
struct sxs_stopped {
    struct sxs_runtime *rt; /* one reference */
    struct sxs_stopped_thread {
        ThreadID id;
        uint32_t tid;
    } * threads; /* owned */
    size_t n_threads, cap_threads;
};

/** A thread whose stack must be taken in this tick. */
struct sxs_due {
    uint32_t tid;
    uint64_t weight_ns;
    char     before; /* its state in /proc before the suspension ('R': running) */
    unsigned missed; /* number of missed answers in a row; updated */
};

/**
 * sxs_stopped_list - list the threads of a suspended runtime; none of them can start or end
 * meanwhile. Returns 0 or -1. */
int sxs_stopped_list(struct sxs_stopped *s);

/**
 * sxs_stopped_take - write a thread's stack to a sample record, and compare the reported frames
 * with the walked frames.
 * @all, @n: the suspended runtimes.
 * @due: the thread.
 * @ask: makes the thread walk its stack; see stackwalk/snapshot/walk_request.h. If the thread
 *   does not answer within some milliseconds, only the reported frames are recorded.
 * Returns the record, or NULL when there was no stack, or no room for it in the file. */
struct sxs_record_sample *sxs_stopped_take(struct sxs_samples_writer *w, const struct sxs_stopped *all, size_t n,
                      struct sxs_due *due, int (*ask)(uint32_t tid));

#endif
