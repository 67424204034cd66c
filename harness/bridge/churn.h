/* SPDX-License-Identifier: MIT */
/* churn.h - stress in the host process, beside the apps: threads, plugins, children and waits that
 * a profiler must tolerate. */
#ifndef SXS_HARNESS_CHURN_H
#define SXS_HARNESS_CHURN_H

#include <pthread.h>
#include <stdatomic.h>

/* The stress that was asked for, and the counts of what was done. */
struct churn {
    unsigned    threads, loads, forks, execs, spawns; /* per second */
    unsigned    waiters;                              /* waiting threads of each kind */
    unsigned    loader; /* forked children use the loader: then no app may throw exceptions */
    unsigned    exits;  /* half of the forked children end by exit(), the others by _exit() */
    char        plugin[4096];
    atomic_bool stop;

    atomic_ulong          n_threads, n_loads, n_forks, n_execs, n_spawns;
    atomic_ulong          n_failed;         /* failures of any kind */
    _Atomic(const char *) why;              /* reason of the last failure */
    atomic_ulong          n_interrupted[4]; /* waits that ended with EINTR, by enum churn_wait */
    atomic_ulong          n_waits;          /* waiting threads started */
};

enum churn_wait { CHURN_SLEEP, CHURN_POLL, CHURN_READ, CHURN_FUTEX, CHURN_N_WAITS };

/* Counts a failure. @why: a string literal. Any thread. */
void churn_failed(struct churn *c, const char *why);

/* Held while the stress loads or unloads a library, and during a fork whose child does the same:
 * the C library does not guarantee a working loader in a child that is forked during a load. */
extern pthread_mutex_t churn_loading;

/* Thread functions; each loops until `stop`. @arg is the struct churn. */
void *churn_threads(void *arg);  /* starts short native threads */
void *churn_loads(void *arg);    /* loads, calls and unloads a plugin */
void *churn_children(void *arg); /* starts children: fork, fork and exec, posix_spawn */

/* churn_wait_start() starts the waiting threads; they end when churn_wake() is called. */
void churn_wait_start(struct churn *c);
void churn_wake(struct churn *c);

#endif
