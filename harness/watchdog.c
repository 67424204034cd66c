/* SPDX-License-Identifier: MIT */
/* watchdog.c - a thread that ends the process after a time limit. */
#include "harness/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct timespec deadline; /* CLOCK_MONOTONIC */
    void (*report)(void *);
    void *arg;
} watch;

static void *run_watchdog(void *unused)
{
    (void)unused;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &watch.deadline, NULL) == EINTR)
        ;
    watch.report(watch.arg);
    _exit(SXS_WATCHDOG_STATUS);
}

int sxs_watchdog_start(unsigned seconds, void (*report)(void *), void *arg)
{
    pthread_t thread;
    sigset_t  all, before;

    clock_gettime(CLOCK_MONOTONIC, &watch.deadline);
    watch.deadline.tv_sec += seconds;
    watch.report = report;
    watch.arg = arg;
    /* Block all signals in the watchdog's thread, because a signal handler could hang. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, NULL, run_watchdog, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err)
        return -1;
    pthread_detach(thread);
    return 0;
}
