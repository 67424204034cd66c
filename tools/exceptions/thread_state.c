/* SPDX-License-Identifier: MIT */
#include "tools/exceptions/thread_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

/* Only a pointer, because a library that is loaded late has little room for thread-local
 * storage. */
static SXS_TLS struct sxs_exceptions_thread *current;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end_thread(void *state)
{
    sxs_in_flight_end(&((struct sxs_exceptions_thread *)state)->in_flight);
    current = NULL;
    free(state);
}

static void make_key(void)
{
    pthread_key_create(&key, end_thread);
}

struct sxs_exceptions_thread *sxs_exceptions_thread(void (*landed)(struct sxs_in_flight *exception))
{
    struct sxs_exceptions_thread *t = current;
    if (t)
        return t;
    pthread_once(&once, make_key);
    t = calloc(1, sizeof(*t));
    if (!t || pthread_setspecific(key, t) != 0) {
        free(t);
        return NULL;
    }
    t->tid = (uint32_t)syscall(SYS_gettid);
    t->in_flight.landed = landed;
    current = t;
    return t;
}

struct sxs_exceptions_thread *sxs_exceptions_thread_if_any(void)
{
    return current;
}
