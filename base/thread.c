/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes. The default of pthread_create() is the host's RLIMIT_STACK. That may be 8 MiB, which count
 * against RLIMIT_AS and, if the system does not overcommit, against its memory; or it may be too
 * little. Runtimes give their own threads 1.5 MiB too. */
#define STACK_SIZE ((size_t)1536 << 10)

static void *run(void *arg)
{
    const struct sxs_thread *thread = arg;
    pthread_setname_np(pthread_self(), thread->name);
    thread->body();
    return NULL;
}

int sxs_thread_start(const struct sxs_thread *thread)
{
    pthread_t      id;
    pthread_attr_t attr;
    sigset_t       all, saved;
    int            err;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &saved); /* the new thread inherits the mask */
    err = pthread_create(&id, &attr, run, (void *)(uintptr_t)thread);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    pthread_attr_destroy(&attr);
    return err;
}
