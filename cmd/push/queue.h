/* SPDX-License-Identifier: MIT */
/**
 * queue.h - batches that wait to be sent: a folder with one file per batch.
 *
 * A file gets its name when it is complete, and is removed when its receiver has accepted all of its
 * requests. So a process that is killed at any time leaves only whole batches. The file "state" says
 * up to which time each process of each session is in the queue or sent; a batch's own file says it,
 * too, for the case that the process is killed between the two. One process at a time uses a queue:
 * the file "lock". Nothing in it is a secret: no address, no token. Its mode is 0700 nevertheless,
 * because stacks tell what a program does.
 */
#ifndef SXS_CMD_PUSH_QUEUE_H
#define SXS_CMD_PUSH_QUEUE_H

#include "cmd/push/out.h"

struct sxs_push_queue;

/** The oldest batch. */
struct sxs_push_entry {
    struct sxs_push_out requests;  /* owned */
    char                batch[33]; /* its id in hexadecimal digits */
};

/** What happened to batches since the queue was made. */
struct sxs_push_counts {
    uint64_t sent, refused, dropped; /* dropped: for lack of room, or damaged */
};

/**
 * sxs_push_queue_open - open a queue, made when missing.
 * @dir: NULL: a folder of its own, removed by sxs_push_queue_close(). @limit: bytes of all batches.
 * @target: what it is for: its format. A queue of another target is refused.
 * Returns 0, or -1 with one line in @why. */
int sxs_push_queue_open(const char *dir, uint64_t limit, const char *target,
                        struct sxs_push_queue **out, char *why, size_t size);
/** sxs_push_queue_close - close it; NULL is allowed. */
void sxs_push_queue_close(struct sxs_push_queue *q);

/**
 * sxs_push_queue_add - append a batch. @source: a name for its process and session. @next_ns: that
 * source is in the queue up to this time. The oldest batches are dropped until it has room.
 * Returns 0 or a negative errno; then nothing has changed. */
int sxs_push_queue_add(struct sxs_push_queue *q, const struct sxs_push_out *requests,
                       const uint8_t id[16], const char *source, uint64_t next_ns);

/** sxs_push_queue_position - return up to which time a source is in the queue or sent; 0: nothing. */
uint64_t sxs_push_queue_position(const struct sxs_push_queue *q, const char *source);

/** sxs_push_queue_finish - note that nothing more comes from @source. */
void sxs_push_queue_finish(struct sxs_push_queue *q, const char *source, uint64_t next_ns);

/** sxs_push_queue_forget - remove the positions of all sources for which @known returns false. */
void sxs_push_queue_forget(struct sxs_push_queue *q, bool (*known)(void *arg, const char *source),
                           void                  *arg);

/** sxs_push_queue_each - call @take for every source and its position. */
void sxs_push_queue_each(const struct sxs_push_queue *q,
                         void (*take)(void *arg, const char *source, uint64_t next_ns), void *arg);

/** sxs_push_queue_length, _counts - return the number of batches that wait; the counts. */
size_t                 sxs_push_queue_length(const struct sxs_push_queue *q);
struct sxs_push_counts sxs_push_queue_counts(const struct sxs_push_queue *q);

/**
 * sxs_push_queue_head - read the oldest batch. @out: overwritten; release its requests. A damaged
 * file is dropped with a message. Returns false when no batch waits. */
bool sxs_push_queue_head(struct sxs_push_queue *q, struct sxs_push_entry *out);

/**
 * sxs_push_queue_peek - read the batch @i: 0 is the oldest. @out: overwritten; release its requests
 * when true is returned. @size: receives the size of its file. Returns false when there is none, or it
 * is damaged. */
bool sxs_push_queue_peek(const struct sxs_push_queue *q, size_t i, struct sxs_push_entry *out,
                         uint64_t *size);

/** sxs_push_queue_remove - remove the oldest batch. @accepted: it was sent; false: refused. */
void sxs_push_queue_remove(struct sxs_push_queue *q, bool accepted);

#endif
