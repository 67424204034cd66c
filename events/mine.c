/* SPDX-License-Identifier: MIT */
#include "events/mine.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "manager/base/base.h"

/* Static storage for threads is scarce in a library that is loaded late: a pointer only. */
static SXS_TLS struct sxs_events_mine *mine;
static pthread_key_t                   key;
static void (*on_landing)(struct sxs_flight *flight);

static void thread_ended(void *what)
{
    struct sxs_events_mine *m = what;
    sxs_flights_end(&m->flights);
    mine = NULL;
    free(m);
}

int sxs_events_mine_init(void (*landed)(struct sxs_flight *flight))
{
    on_landing = landed;
    return pthread_key_create(&key, thread_ended);
}

struct sxs_events_mine *sxs_events_mine(void)
{
    struct sxs_events_mine *m = mine;
    if (m)
        return m;
    m = calloc(1, sizeof(*m));
    if (!m || pthread_setspecific(key, m) != 0) {
        free(m);
        return NULL;
    }
    m->tid = (uint32_t)syscall(SYS_gettid);
    m->flights.landed = on_landing;
    mine = m;
    return m;
}

struct sxs_events_mine *sxs_events_mine_if_any(void)
{
    return mine;
}
