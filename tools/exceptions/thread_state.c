/* SPDX-License-Identifier: MIT */
#include "tools/exceptions/thread_state.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/session_state.h"

/* Only a pointer, because a library that is loaded late has little room for thread-local
 * storage. */
static SXS_TLS struct sxs_exceptions_thread *current;
static pthread_key_t                         key;
static pthread_once_t                        once = PTHREAD_ONCE_INIT;
/* Guards `ended`. Held while a thread that ends decides the fate of its exceptions. */
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(ending);
static unsigned ended = UINT_MAX; /* the number of the session that was ended last */
SXS_SESSION_KEEPS(key);
SXS_SESSION_KEEPS(once);
SXS_SESSION_KEEPS(ending);
SXS_SESSION_KEEPS(ended);

static void end_thread(void *state)
{
    struct sxs_exceptions_thread *t = state;
    pthread_mutex_lock(&ending);
    if (t->session == sxs_session_generation() && t->session != ended)
        sxs_in_flight_end(&t->in_flight);
    pthread_mutex_unlock(&ending);
    current = NULL;
    free(state);
}

void sxs_exceptions_threads_end(void)
{
    pthread_mutex_lock(&ending);
    ended = sxs_session_generation();
    pthread_mutex_unlock(&ending);
}

static void make_key(void)
{
    pthread_key_create(&key, end_thread);
}

struct sxs_exceptions_thread *sxs_exceptions_thread(void (*landed)(struct sxs_in_flight *exception))
{
    struct sxs_exceptions_thread *t = current;
    unsigned                      session = sxs_session_generation();
    if (t && t->session != session) {
        t->in_flight.n = 0; /* their records were in another file */
        t->session = session;
    }
    if (t)
        return t;
    pthread_once(&once, make_key);
    t = calloc(1, sizeof(*t));
    if (!t || pthread_setspecific(key, t) != 0) {
        free(t);
        return NULL;
    }
    t->tid = (uint32_t)syscall(SYS_gettid);
    t->session = session;
    t->in_flight.landed = landed;
    current = t;
    return t;
}

struct sxs_exceptions_thread *sxs_exceptions_thread_if_any(void)
{
    struct sxs_exceptions_thread *t = current;
    return t && t->session == sxs_session_generation() ? t : NULL;
}
