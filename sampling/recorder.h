/* SPDX-License-Identifier: MIT */
/**
 * sampling/recorder.h - owns the file "samples" of this process, and the service thread that
 * finds threads, reserves space in the file and names the addresses that were recorded.
 *
 * sampling/cost.h is for tools that record costs. This header is for the tool sample, which
 * writes records of its own and has a clock for each thread. */
#ifndef SXS_SAMPLING_RECORDER_H
#define SXS_SAMPLING_RECORDER_H

#include "sampling/threads.h"
#include "session/write/samples_write.h"

/**
 * sxs_recorder_start - create the file and start the service thread. Only the first call has an
 * effect. Returns 0, or -1 after a message of the first call. Any thread; not signal-safe. */
int sxs_recorder_start(void);

/** sxs_recorder_end - end the thread, and complete and close the file: the session ends, and no tool
 *  records any more. Not signal-safe. */
void sxs_recorder_end(void);

/** sxs_recorder_name_all - wait until all addresses recorded so far have names. Returns 0, or
 *  -ETIMEDOUT after some seconds. Any thread that is not inside of a callback. */
int sxs_recorder_name_all(void);

/** sxs_recorder_writer - return the writer of the file, which lives until the session ends; NULL if
 *  the recorder has not been started. Any thread; signal-safe. */
SXS_SIGSAFE struct sxs_samples_writer *sxs_recorder_writer(void);

/** sxs_recorder_is_on - 1 if the recorder is on and this is no forked child. Any thread;
 *  signal-safe. */
SXS_SIGSAFE int sxs_recorder_is_on(void);

/** The functions of the tool sample, called when threads start and end. Each may be NULL. */
struct sxs_recorder_user {
    /* A thread was found, or has just started. Called on that thread or on the service thread. The
     * slot is BUSY. Returns nonzero if the thread has ended already; then it is not recorded. Not
     * called for threads of the library. */
    int (*began)(struct sxs_thread_slot *t);
    /* A thread for which began() was called is ending or has ended. The slot is BUSY. */
    void (*ended)(struct sxs_thread_slot *t);
    /* The process exits while the thread runs: complete its samples. The slot is BUSY. May be NULL. */
    void (*left)(struct sxs_thread_slot *t);
    /* A thread was found again. On the service thread; the slot is BUSY. */
    void (*seen)(struct sxs_thread_slot *t);
    /* Called in each round of the service thread, after the threads were scanned. */
    void (*round)(void);
    /* The sample signal is another one (@lost: 0), or cannot be used any more (1). On the service
     * thread. */
    void (*signal_changed)(int lost);
    /* Around a fork: as in struct sxs_fork_part. in_child() is called before the table of threads
     * is cleared. */
    void (*before_fork)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
    int is_frequent; /* 1: many samples a second: the file needs room more often */
};

/**
 * sxs_recorder_use - call the functions of @user from now on: began() soon for each thread that was
 * found before. @user: has static storage; NULL: call none. After sxs_recorder_start(). Any thread. */
void sxs_recorder_use(const struct sxs_recorder_user *user);

/**
 * sxs_recorder_leave_out - do not record the calling thread, which sxs_thread_start() has started, because
 * it belongs to the library. If began() was called for it, ended() is called. */
void sxs_recorder_leave_out(void);

#endif
