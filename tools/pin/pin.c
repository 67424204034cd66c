/* SPDX-License-Identifier: MIT */
/* tools/pin/pin.c - pins exceptions while runtimes search for their handlers, so that a
 * collection does not move them.
 *
 * If a profiler monitors exceptions, 9.0 and 10.0 report each exception filter
 * (ExceptionSearchFilterEnter) after they have read the exception's address and before they call
 * the filter with that address. During the callback a collection may move the exception; then
 * the filter is called with an address of something else (docs/internals/hosts.md). So each
 * exception is pinned from ExceptionThrown until the catch block that handles it has ended.
 *
 * A thread may have several exceptions at once: one may be thrown in a filter, or in a catch
 * block. The latest PINS exceptions are kept. An exception that a runtime catches in native
 * code, or that is replaced by another, has no catch block. Its pin is released with that of an
 * earlier exception, or when there are PINS newer ones, or when the thread ends. */
#include "tools/tools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PINS 8u

/* Runtimes with ICorProfilerInfo15 (9.0 and later) have the defect described above. */
#define FIRST_INFO 15u

struct pin {
    struct sxs_runtime *rt; /* one reference */
    ObjectHandleID      handle;
    ObjectID            object;
    int                 caught; /* 1: its catch block has begun */
};

/* The pins of one thread, oldest first. */
struct pins {
    unsigned   n;
    struct pin all[PINS];
};

static SXS_TLS struct pins *own_pins;
static pthread_key_t        key;
static pthread_once_t       once = PTHREAD_ONCE_INIT;

static void release_pin(struct pin *p)
{
    /* Fails if the runtime has ended; its handles have ended with it. */
    sxs_info_DestroyHandle(p->rt, p->handle);
    sxs_runtime_unref(p->rt);
}

static void remove_from(struct pins *pins, unsigned at)
{
    while (pins->n > at)
        release_pin(&pins->all[--pins->n]);
}

static void thread_ended(void *pins)
{
    own_pins = NULL;
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
    if (!own_pins) {
        struct pins *pins = calloc(1, sizeof(*pins));
        if (pins && pthread_setspecific(key, pins) == 0)
            own_pins = pins;
        else
            free(pins);
    }
    return own_pins;
}

/* Returns the index of a pinned object, or n. Its address is unique, because it does not move. */
static unsigned find_pin(const struct pins *pins, sxs_object object)
{
    unsigned at = pins->n;
    while (at > 0 && !(pins->all[at - 1].rt == object.rt && pins->all[at - 1].object == object.id))
        at--;
    return at > 0 ? at - 1 : pins->n;
}

static HRESULT on_thrown(struct sxs_sub *sub, sxs_object exception)
{
    struct pins   *pins = exception.id ? pins_of_thread() : NULL;
    ObjectHandleID handle;
    if (!pins || find_pin(pins, exception) < pins->n || /* rethrown */
        FAILED(sxs_info_CreateHandle(sub->rt, exception, COR_PRF_HANDLE_TYPE_PINNED, &handle)))
        return S_OK;
    if (pins->n == PINS) {
        release_pin(&pins->all[0]);
        memmove(pins->all, pins->all + 1, (PINS - 1) * sizeof(pins->all[0]));
        pins->n--;
    }
    pins->all[pins->n++] = (struct pin){sxs_runtime_ref(sub->rt), handle, exception.id, 0};
    return S_OK;
}

/* The exceptions thrown after this one have been handled. This one stays pinned, because its
 * catch block may rethrow it. */
static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object exception)
{
    unsigned at = own_pins ? find_pin(own_pins, exception) : 0;
    (void)sub;
    (void)fn;
    if (own_pins && at < own_pins->n) {
        remove_from(own_pins, at + 1);
        own_pins->all[at].caught = 1;
    }
    return S_OK;
}

static HRESULT catcher_leave(struct sxs_sub *sub)
{
    for (unsigned i = own_pins ? own_pins->n : 0; i > 0; i--)
        if (own_pins->all[i - 1].caught && own_pins->all[i - 1].rt == sub->rt) {
            remove_from(own_pins, i - 1);
            break;
        }
    return S_OK;
}

static const struct sxs_events events = {
    .ExceptionThrown = on_thrown,
    .ExceptionCatcherEnter = catcher_enter,
    .ExceptionCatcherLeave = catcher_leave,
};

static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low =
        sxs_runtime_info_version(sub->rt) >= FIRST_INFO ? (uint32_t)COR_PRF_MONITOR_EXCEPTIONS : 0;
    return S_OK;
}

const struct sxs_tool sxs_pin_tool = {
    .name = "pin", .always = 1, .on = &events, .start = start_tool};
