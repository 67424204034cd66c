/* SPDX-License-Identifier: MIT */
/* churn.h - unrest in the host process, beside the apps: what a profiler must live with. */
#ifndef SXS_HARNESS_CHURN_H
#define SXS_HARNESS_CHURN_H

#include <pthread.h>
#include <stdatomic.h>

/* What is to be done, per second; and what has been done. */
struct churn {
    unsigned    threads, loads, forks, execs, spawns;
    unsigned    waiters; /* of each kind */
    unsigned    loader;  /* forked children use the loader: no app may throw exceptions then */
    unsigned    exits;   /* half of the forked children end by exit(), the others by _exit() */
    char        plugin[4096];
    atomic_bool stop;

    atomic_ulong n_threads, n_loads, n_forks, n_execs, n_spawns;
    atomic_ulong n_failed;      /* anything that did not go as it should; the last reason: */
    _Atomic(const char *) why;
    atomic_ulong n_interrupted[4]; /* EINTR, by enum churn_wait */
    atomic_ulong n_waits;          /* threads that wait */
};

enum churn_wait { CHURN_SLEEP, CHURN_POLL, CHURN_READ, CHURN_FUTEX, CHURN_N_WAITS };

/* Counts what did not go as it should. @why: a literal. Any thread. */
void churn_failed(struct churn *c, const char *why);

/* Held while a library is loaded or unloaded, and over forks whose child does the same: the C library
 * promises nothing to a child that was forked meanwhile. */
extern pthread_mutex_t churn_loading;

/* Loops of their own threads; @arg is the struct churn. */
void *churn_threads(void *arg);  /* short native threads */
void *churn_loads(void *arg);    /* a plugin loaded, called, unloaded */
void *churn_children(void *arg); /* fork, fork and exec, posix_spawn */

/* Starts the waiting threads; they end when churn_wake() is called. */
void churn_wait_start(struct churn *c);
void churn_wake(struct churn *c);

#endif
