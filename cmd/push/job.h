/* SPDX-License-Identifier: MIT */
/** job.h - one run of `sxsprof push`: sessions to batches, batches to the queue, the queue to a
 *  server. One thread. */
#ifndef SXS_CMD_PUSH_JOB_H
#define SXS_CMD_PUSH_JOB_H

#include "cmd/output/segments.h"
#include "cmd/push/batches.h"
#include "cmd/push/sender.h"

struct sxs_push_job {
    struct sxs_push_settings settings;
    struct sxs_push_cut      cut; /* dir and name are set for each session */
    struct sxs_push_sender   sender;
    bool                     kept;      /* the queue outlives the command */
    uint64_t                 retry_ns;  /* of sxs_push_once(): repeat for so long after a failure */
    uint64_t                 gather_ns; /* of sxs_push_follow(): how long batches wait for others */
    uint64_t                 flush_until; /* CLOCK_MONOTONIC: when to end; 0: no signal has come */
    bool                     damaged;     /* something in a session could not be read */
    bool                     gave_up;     /* the server does not take batches */
    uint64_t                 lost;        /* segments that were deleted before all was pushed */
    char                     reported[600]; /* the last message about the queue */
};

/**
 * sxs_push_once - push a session: all of it, or with a queue that is kept what it does not have yet.
 * @name: of the session, without a path.
 * Returns an exit status; messages have been printed. */
int sxs_push_once(struct sxs_push_job *job, const char *name, const struct sxs_opened *v);

/**
 * sxs_push_follow - push what comes: of the session @dir, or of the sessions in the folder @dir,
 * each minute when it is complete, until SIGINT or SIGTERM. Of segments (docs/internals/keep.md),
 * those that were deleted before all of them was pushed are counted in job->lost.
 * Returns an exit status; messages have been printed. */
int sxs_push_follow(struct sxs_push_job *job, const char *dir);

/** sxs_push_drain - send the queue, with repetitions as job->retry_ns says. Returns true when the
 *  queue is empty. */
bool sxs_push_drain(struct sxs_push_job *job);

/** sxs_push_watch_signals - let SIGINT and SIGTERM end a job instead of the command. */
void sxs_push_watch_signals(void);

/** sxs_push_must_stop - return true when a signal has come, and @arg, the job, has had its time to
 *  send the rest. */
bool sxs_push_must_stop(void *arg);

/** sxs_push_signalled - return true when a signal has come. */
bool sxs_push_signalled(void);

/** sxs_push_source - write the name of a process of a session in the queue's state to @buf. */
void sxs_push_source(const char *session, const struct sxs_session_process *p, uint64_t began_ns,
                     char *buf, size_t size);

/** sxs_push_queue_batch - encode a batch and add it to the queue. @source: see above. Returns 0 or a
 *  negative errno after a message. */
int sxs_push_queue_batch(struct sxs_push_job *job, const struct sxs_push_batch *b,
                         const char *source, uint64_t next_ns);

/** sxs_push_segments - push all segments in the folder @dir, as sxs_push_once() does. */
int sxs_push_segments(struct sxs_push_job *job, const char *dir,
                      const struct sxs_segments *segments);

enum { SXS_PUSH_SOURCE_MAX = 640 };

/** Records of a minute may still be written this long after its end, and names of code be found. */
#define SXS_PUSH_GRACE_NS UINT64_C(3000000000)

#endif
