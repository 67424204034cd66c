/* SPDX-License-Identifier: MIT */
/* churn_wait.c - threads that wait in system calls and count the waits that a signal
 * interrupted. */
#include "harness/bridge/churn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static int       pipes[2] = {-1, -1};
static sem_t     never;

static void count_interrupted(struct churn *c, enum churn_wait kind)
{
    if (errno == EINTR && !atomic_load(&c->stop))
        atomic_fetch_add(&c->n_interrupted[kind], 1);
}

static void *wait_sleeping(void *arg)
{
    struct churn   *c = arg;
    struct timespec left;
    while (!atomic_load(&c->stop)) {
        left = (struct timespec){1, 0};
        while (nanosleep(&left, &left) != 0 && !atomic_load(&c->stop))
            count_interrupted(c, CHURN_SLEEP);
    }
    return NULL;
}

static void *wait_polling(void *arg)
{
    struct churn *c = arg;
    struct pollfd p = {.fd = pipes[0], .events = POLLIN};
    while (!atomic_load(&c->stop) && poll(&p, 1, -1) < 0)
        count_interrupted(c, CHURN_POLL);
    return NULL;
}

static void *wait_reading(void *arg)
{
    struct churn *c = arg;
    char          byte;
    while (!atomic_load(&c->stop) && read(pipes[0], &byte, 1) < 0)
        count_interrupted(c, CHURN_READ);
    return NULL;
}

static void *wait_for_semaphore(void *arg)
{
    struct churn *c = arg;
    while (!atomic_load(&c->stop) && sem_wait(&never) != 0)
        count_interrupted(c, CHURN_FUTEX);
    return NULL;
}

void churn_wait_start(struct churn *c)
{
    static void *(*const kinds[])(void *) = {wait_sleeping, wait_polling, wait_reading,
                                             wait_for_semaphore};
    pthread_attr_t attr;
    pthread_t      thread;
    if (!c->waiters)
        return;
    if (pipe(pipes) != 0 || sem_init(&never, 0, 0) != 0) {
        churn_failed(c, "pipe");
        return;
    }
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (unsigned i = 0; i < c->waiters * CHURN_N_WAITS; i++) {
        if (pthread_create(&thread, &attr, kinds[i % CHURN_N_WAITS], c) == 0)
            atomic_fetch_add(&c->n_waits, 1);
        else
            churn_failed(c, "pthread_create");
    }
    pthread_attr_destroy(&attr);
}

void churn_wake(struct churn *c)
{
    for (unsigned i = 0; i < c->waiters; i++) {
        sem_post(&never);
        if (write(pipes[1], "xx", 2) != 2)
            churn_failed(c, "write");
    }
}
