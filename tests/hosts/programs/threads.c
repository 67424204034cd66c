/* SPDX-License-Identifier: MIT */
/* threads - a host that starts many short threads, or cancels threads.
 *
 * threads detach|cancel|small
 *   detach  300 detached threads; each calls managed code, causes a fault, and ends
 *   cancel  threads that have called managed code are cancelled while they wait in native code
 *   small   as detach, with the smallest stacks that a runtime works on */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { THREADS = 300, AT_ONCE = 8, CANCELLED = 60, SMALL_STACK = 256 * 1024 };

static atomic_int n_good, n_cleaned;
static sem_t      ended, waiting;

static void *come_and_go(void *argument)
{
    const struct hosting_guest *guest = argument;

    if (guest->compute(1000) == 499500 && guest->faults(1) == 1)
        atomic_fetch_add(&n_good, 1);
    sem_post(&ended);
    return NULL;
}

static void churn(size_t stack_size)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_size)
        pthread_attr_setstacksize(&attributes, stack_size);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (i >= AT_ONCE)
            sem_wait(&ended);
        pthread_create(&thread, &attributes, come_and_go,
                       (void *)(uintptr_t)hosting_guest(i % hosting_len()));
    }
    for (int i = 0; i < AT_ONCE; i++)
        sem_wait(&ended);
    pthread_attr_destroy(&attributes);
    hosting_claim(n_good == THREADS, "%d threads did their work", atomic_load(&n_good));
}

static void clean(void *argument)
{
    (void)argument;
    atomic_fetch_add(&n_cleaned, 1);
}

static void *wait_for_ever(void *argument)
{
    const struct hosting_guest *guest = argument;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (guest->compute(1000) == 499500 && guest->faults(1) == 1)
        atomic_fetch_add(&n_good, 1);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_cleanup_push(clean, NULL);
    sem_post(&waiting);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel(void)
{
    int cancelled = 0;

    for (int i = 0; i < CANCELLED; i++) {
        pthread_t thread;
        void     *result = NULL;
        pthread_create(&thread, NULL, wait_for_ever,
                       (void *)(uintptr_t)hosting_guest(i % hosting_len()));
        sem_wait(&waiting);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    hosting_claim(n_good == CANCELLED && cancelled == CANCELLED && n_cleaned == CANCELLED,
                  "%d threads were cancelled and cleaned up", cancelled);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "detach";

    sem_init(&ended, 0, 0);
    sem_init(&waiting, 0, 0);
    hosting_start();
    if (!strcmp(how, "cancel"))
        cancel();
    else
        churn(!strcmp(how, "small") ? SMALL_STACK : 0);
    hosting_claim(hosting_work(1) == 0, "work");
    return hosting_end();
}
