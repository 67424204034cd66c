/* SPDX-License-Identifier: MIT */
#include "tools/events/thread_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/session_state.h"

/* Only a pointer, because a library that is loaded late has little room for thread-local
 * storage. */
static SXS_TLS struct sxs_events_thread *current;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
SXS_SESSION_KEEPS(key);
SXS_SESSION_KEEPS(once);

static void end_thread(void *state)
{
    current = NULL;
    free(state);
}

static void make_key(void)
{
    pthread_key_create(&key, end_thread);
}

struct sxs_events_thread *sxs_events_thread(void)
{
    struct sxs_events_thread *t = current;
    unsigned                  session = sxs_session_generation();
    if (t && t->session != session)
        *t = (struct sxs_events_thread){.tid = t->tid, .session = session};
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
    current = t;
    return t;
}

struct sxs_events_thread *sxs_events_thread_if_any(void)
{
    struct sxs_events_thread *t = current;
    return t && t->session == sxs_session_generation() ? t : NULL;
}
