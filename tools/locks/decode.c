/* SPDX-License-Identifier: MIT */
#include "tools/locks/decode.h"

#include <string.h>

/* Offsets in the data of the events. There is no padding. */
enum { START_FLAGS = 0, START_LOCK = 3, START_OBJECT = 11, START_OWNER = 19, START_SIZE = 27 };
enum { STOP_FLAGS = 0, STOP_NS = 3, STOP_SIZE = 11 };
enum { COUNT_ACTIVE = 0, COUNT_SIZE = 10 };
enum { ADJUSTMENT_COUNT = 8, ADJUSTMENT_REASON = 12, ADJUSTMENT_SIZE = 18 };

#define START_VERSION 2u
#define STOP_VERSION  1u
#define NATIVE        1u /* in the flags: a lock of the runtime's own native code */
/* The lock of a monitor is identified by an address, that of a System.Threading.Lock by the handle
 * of its event, a small number. No address is that low: programs are loaded at 4 MiB or above. */
#define LEAST_ADDRESS UINT64_C(0x400000)
#define LONGEST_NS    1e18 /* 31 years: more is no time */

SXS_SIGSAFE static uint64_t read_u64(const unsigned char *data, size_t at)
{
    uint64_t value;
    memcpy(&value, data + at, sizeof(value));
    return value;
}

SXS_SIGSAFE static uint32_t read_u32(const unsigned char *data, size_t at)
{
    uint32_t value;
    memcpy(&value, data + at, sizeof(value));
    return value;
}

SXS_SIGSAFE static double read_double(const unsigned char *data, size_t at)
{
    double value;
    memcpy(&value, data + at, sizeof(value));
    return value;
}

int sxs_contention_start(uint32_t id, uint32_t version, const void *data, size_t size,
                         struct sxs_contention *out)
{
    const unsigned char *bytes = data;
    if (id != SXS_EVENT_CONTENTION_START || version < START_VERSION || size < START_SIZE ||
        bytes[START_FLAGS] == NATIVE)
        return 0;
    out->lock = read_u64(bytes, START_LOCK);
    out->object = read_u64(bytes, START_OBJECT);
    out->owner = read_u64(bytes, START_OWNER);
    out->is_monitor = out->lock >= LEAST_ADDRESS;
    return 1;
}

int sxs_contention_stop(uint32_t id, uint32_t version, const void *data, size_t size, uint64_t *ns)
{
    const unsigned char *bytes = data;
    double               value;
    if (id != SXS_EVENT_CONTENTION_STOP || version < STOP_VERSION || size < STOP_SIZE ||
        bytes[STOP_FLAGS] == NATIVE)
        return 0;
    value = read_double(bytes, STOP_NS);
    if (!(value >= 0 && value <= LONGEST_NS)) /* false for a NaN, too */
        return 0;
    *ns = (uint64_t)value;
    return 1;
}

int sxs_pool_event_decode(uint32_t id, uint32_t version, const void *data, size_t size,
                          struct sxs_pool_event *out)
{
    const unsigned char *bytes = data;
    (void)version; /* later versions add to the end */
    *out = (struct sxs_pool_event){0};
    switch (id) {
    case SXS_EVENT_POOL_THREAD_START: out->change = SXS_POOL_STARTED; break;
    case SXS_EVENT_POOL_THREAD_STOP: out->change = SXS_POOL_STOPPED; break;
    case SXS_EVENT_POOL_ADJUSTMENT:
        if (size < ADJUSTMENT_SIZE)
            return 0;
        out->change = SXS_POOL_ADJUSTED;
        out->value = read_u32(bytes, ADJUSTMENT_COUNT);
        out->reason = (uint8_t)read_u32(bytes, ADJUSTMENT_REASON);
        return 1;
    default: return 0;
    }
    if (size < COUNT_SIZE)
        return 0;
    out->value = read_u32(bytes, COUNT_ACTIVE);
    return 1;
}

int sxs_pool_queue_decode(const void *data, size_t size, struct sxs_pool_event *out)
{
    /* The name, the name to show, then the value. */
    static const uint16_t name[] = u"threadpool-queue-length\0ThreadPool Queue Length";
    double                value;
    if (size < sizeof(name) + sizeof(value) || memcmp(data, name, sizeof(name)) != 0)
        return 0;
    value = read_double(data, sizeof(name));
    if (!(value >= 0 && value <= UINT32_MAX))
        return 0;
    *out = (struct sxs_pool_event){.change = SXS_POOL_QUEUED, .value = (uint32_t)value};
    return 1;
}
