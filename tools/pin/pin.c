/* SPDX-License-Identifier: MIT */
/*
 * pin.c - keeps exceptions in their places while runtimes search handlers for them.
 *
 * When a profiler monitors exceptions, 9.0 and 10.0 tell it of each exception filter (ExceptionSearchFilterEnter)
 * between the moment they read the exception's address and the moment they call the filter with it. While they
 * tell, a collection may move the exception; the filter is then called with an address at which there is
 * something else (docs/hosts.md). So each exception is pinned from ExceptionThrown until the catch block that handles
 * it has ended.
 *
 * A thread may have several at once: an exception thrown in a filter, or in a catch block. It keeps the latest
 * PINS. An exception that runtimes catch in native code, or that another one takes the place of, has no
 * catch block: its pin goes with that of an earlier exception, or when there are PINS newer ones, or with the thread.
 */
#include "tools/tools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PINS 8u

/* Runtimes with ICorProfilerInfo15 (9.0 and later) have that defect. */
#define FIRST_INFO 15u

struct pin {
    struct sxs_runtime *rt; /* a reference */
    ObjectHandleID      handle;
    ObjectID            object;
    int                 caught; /* its catch block has begun */
};

/* A thread's, oldest first. */
struct pins {
    unsigned   n;
    struct pin all[PINS];
};

static SXS_TLS struct pins *mine;
static pthread_key_t        key;
static pthread_once_t       once = PTHREAD_ONCE_INIT;

static void release(struct pin *p)
{
    sxs_info_DestroyHandle(
        p->rt, p->handle); /* refused by a runtime that has ended: it took its handles along */
    sxs_runtime_unref(p->rt);
}

static void remove_from(struct pins *pins, unsigned at)
{
    while (pins->n > at)
        release(&pins->all[--pins->n]);
}

static void thread_ended(void *pins)
{
    mine = NULL;
    remove_from(pins, 0);
    free(pins);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static struct pins *pins_of_thread(void)
{
    pthread_once(&once, make_key);
    if (!mine) {
        struct pins *pins = calloc(1, sizeof(*pins));
        if (pins && pthread_setspecific(key, pins) == 0)
            mine = pins;
        else
            free(pins);
    }
    return mine;
}

/* The place of an object, which is pinned: no other has its address. Or n. */
static unsigned find(const struct pins *pins, sxs_object object)
{
    unsigned at = pins->n;
    while (at > 0 && !(pins->all[at - 1].rt == object.rt && pins->all[at - 1].object == object.id))
        at--;
    return at > 0 ? at - 1 : pins->n;
}

static HRESULT thrown(struct sxs_sub *sub, sxs_object exception)
{
    struct pins   *pins = exception.id ? pins_of_thread() : NULL;
    ObjectHandleID handle;
    if (!pins || find(pins, exception) < pins->n || /* thrown once more */
        FAILED(sxs_info_CreateHandle(sub->rt, exception, COR_PRF_HANDLE_TYPE_PINNED, &handle)))
        return S_OK;
    if (pins->n == PINS) {
        release(&pins->all[0]);
        memmove(pins->all, pins->all + 1, (PINS - 1) * sizeof(pins->all[0]));
        pins->n--;
    }
    pins->all[pins->n++] = (struct pin){sxs_runtime_ref(sub->rt), handle, exception.id, 0};
    return S_OK;
}

/* Those thrown since are over. This one may be thrown once more from its catch block. */
static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object exception)
{
    unsigned at = mine ? find(mine, exception) : 0;
    (void)sub;
    (void)fn;
    if (mine && at < mine->n) {
        remove_from(mine, at + 1);
        mine->all[at].caught = 1;
    }
    return S_OK;
}

static HRESULT catcher_leave(struct sxs_sub *sub)
{
    for (unsigned i = mine ? mine->n : 0; i > 0; i--)
        if (mine->all[i - 1].caught && mine->all[i - 1].rt == sub->rt) {
            remove_from(mine, i - 1);
            break;
        }
    return S_OK;
}

static const struct sxs_events events = {
    .ExceptionThrown = thrown,
    .ExceptionCatcherEnter = catcher_enter,
    .ExceptionCatcherLeave = catcher_leave,
};

static HRESULT start(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low =
        sxs_runtime_info_version(sub->rt) >= FIRST_INFO ? (uint32_t)COR_PRF_MONITOR_EXCEPTIONS : 0;
    return S_OK;
}

const struct sxs_tool sxs_pin_tool = {.name = "pin", .always = 1, .on = &events, .start = start};
