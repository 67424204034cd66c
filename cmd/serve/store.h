/* SPDX-License-Identifier: MIT */
/**
 * store.h - what the server has made: each list, data or report is made by a child process
 * (content.h) into a temporary file without a name, and kept while it is new enough. The server's
 * one thread.
 *
 * The output for a session that has ended is kept until one of the session's files changes. For a running
 * session, it is made again when it is requested after 2 seconds, or after three times the time that
 * it took, whichever is longer: the server uses a quarter of a processor at most.
 */
#ifndef SXS_CMD_SERVE_STORE_H
#define SXS_CMD_SERVE_STORE_H

#include "cmd/serve/serve.h"

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

/** How many child processes work at a time. */
#define SXS_SERVE_CHILDREN 2

struct sxs_serve_entry;

/** Something that waits for an entry to be made. Part of the caller's own data. */
struct sxs_serve_waiter {
    struct sxs_serve_waiter *next;
    struct sxs_serve_entry  *entry;           /* NULL: it does not wait */
    void (*wake)(struct sxs_serve_waiter *w); /* called once, when the entry has been made */
};

enum sxs_serve_state { SXS_SERVE_UNUSED, SXS_SERVE_QUEUED, SXS_SERVE_MAKING, SXS_SERVE_MADE };

/** What one request asks for, and what was made. */
struct sxs_serve_entry {
    enum sxs_serve_state     state;
    struct sxs_serve_wanted  wanted; /* token: "" */
    struct sxs_serve_waiter *waiters;
    int                      source_fd, out_fd, err_fd, pipe_fd; /* owned; -1: none */
    pid_t                    pid;                                /* while it is made */
    uint64_t                 asked_ms, began_ms, made_ms;        /* CLOCK_MONOTONIC */
    uint64_t                 stamp; /* of the source before it was made; sxs_serve_stamp() */
    /* When it is made: */
    bool     complete;   /* out_fd is what was asked for; otherwise err_fd says why there is none */
    bool     running;    /* the session was running */
    uint64_t size, hash; /* of out_fd */
};

struct sxs_serve_store;

/** sxs_serve_store_new - make an empty store. @o: must outlive it. Owned; NULL: no memory. */
struct sxs_serve_store *sxs_serve_store_new(const struct sxs_serve_options *o);

/** sxs_serve_store_free - end the child processes and free everything. Nothing may wait. */
void sxs_serve_store_free(struct sxs_serve_store *s);

/**
 * sxs_serve_store_get - find or begin to make what @wanted asks for.
 * @source_fd: the session or the folder (sxs_serve_open()), owned by this function.
 * Returns an entry, made or not; NULL: everything is in use. Valid until the next call, and while
 * something waits for it.
 */
struct sxs_serve_entry *sxs_serve_store_get(struct sxs_serve_store        *s,
                                            const struct sxs_serve_wanted *wanted, int source_fd);

/** sxs_serve_store_wait - let @w wait for @e, which is not made. w->wake is set. */
void sxs_serve_store_wait(struct sxs_serve_entry *e, struct sxs_serve_waiter *w);

/** sxs_serve_store_leave - let @w wait no longer. It need not wait. */
void sxs_serve_store_leave(struct sxs_serve_waiter *w);

/** sxs_serve_store_wake_all - wake all that waits, although nothing was made. */
void sxs_serve_store_wake_all(struct sxs_serve_store *s);

/** sxs_serve_store_fds - write what to poll for child processes to @fds, which has room for
 *  SXS_SERVE_CHILDREN. Returns their number. */
size_t sxs_serve_store_fds(const struct sxs_serve_store *s, struct pollfd *fds);

/** sxs_serve_store_work - take what children have made, end those that take too long, and begin the
 *  next. Called when a descriptor of sxs_serve_store_fds() is ready, and now and then. */
void sxs_serve_store_work(struct sxs_serve_store *s);

/** sxs_serve_now_ms - return CLOCK_MONOTONIC in ms. */
uint64_t sxs_serve_now_ms(void);

#endif
