/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/events.h - decodes the runtimes' events of allocations, and estimates how many objects
 * each stands for. Any thread; takes no lock, calls no runtime.
 */
#ifndef SXS_TOOLS_ALLOC_EVENTS_H
#define SXS_TOOLS_ALLOC_EVENTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/** Keywords and levels of the provider Microsoft-Windows-DotNETRuntime. */
#define SXS_ALLOC_SAMPLED_KEYWORD UINT64_C(0x80000000000)
#define SXS_ALLOC_SAMPLED_LEVEL   4u
#define SXS_ALLOC_TICK_KEYWORD    UINT64_C(1)
#define SXS_ALLOC_TICK_LEVEL      5u

/** The events that are read: GCAllocationTick and AllocationSampled. */
enum sxs_alloc_event_id { SXS_ALLOC_TICK = 10, SXS_ALLOC_SAMPLED = 303 };
enum sxs_alloc_heap { SXS_HEAP_SMALL, SXS_HEAP_LARGE, SXS_HEAP_PINNED };

/** One event. */
struct sxs_alloc_event {
    uint64_t type;    /* ClassID */
    uint64_t address; /* where the object will be; its memory is still empty */
    uint64_t size;    /* of the object, bytes */
    uint64_t
        amount; /* GCAllocationTick: bytes allocated since the last one, with this object; else 0 */
    uint32_t heap;    /* enum sxs_alloc_heap */
};

/** The average amount of a runtime's ticks, in 16ths of a byte; 0: none yet. */
typedef _Atomic uint64_t sxs_alloc_average;

/** sxs_alloc_average_of - add @amount to a moving average over some 32 ticks, and return the average
 *  in bytes. Of ticks that several threads add at the same time some may count for nothing. */
double sxs_alloc_average_of(sxs_alloc_average *average, uint64_t amount);

/** sxs_alloc_decode - decode the event @id. @version: of the event.
 *  Returns 1, or 0 when it is another event, damaged, or too old to tell the object's size. */
int sxs_alloc_decode(uint32_t id, uint32_t version, const void *data, size_t size,
                     struct sxs_alloc_event *out);

/**
 * sxs_alloc_keep - decide whether an object is recorded, and for how many it then stands.
 * @fraction: a random number above 0 and not above 1.
 * Return the number of objects, an unbiased estimate, or 0: it is not recorded.
 *
 * _sampled: the runtime has chosen the object with the chance that a byte of it is chosen, one in
 *   SXS_ALLOC_RUNTIME_INTERVAL; one in @interval is wanted.
 * _tick: the runtime tells of the object with which an amount was exceeded. @amount: the average
 *   amount, because that of one tick is larger the larger its object is.
 */
double sxs_alloc_keep_sampled(uint64_t size, uint64_t interval, double fraction);
double sxs_alloc_keep_tick(uint64_t size, double amount, uint64_t interval, double fraction);

/** The countdown of one thread: bytes until the next object that is recorded. */
struct sxs_alloc_countdown {
    int64_t  left;   /* 0 or less: a new number must be drawn */
    uint64_t random; /* state of sxs_random(); 0: not used yet */
};

/** sxs_alloc_draw - set the countdown to a random interval, @interval bytes on average. */
void sxs_alloc_draw(struct sxs_alloc_countdown *c, uint64_t interval);

/**
 * sxs_alloc_count_down - count the bytes of an object. If the countdown ends in it, draw the next one.
 * Each byte ends the countdown with the same chance, whatever was allocated before. @interval: as in
 * sxs_alloc_draw(). Returns 1 if the object is recorded: it then stands for sxs_alloc_stands_for()
 * objects. */
static inline int sxs_alloc_count_down(struct sxs_alloc_countdown *c, uint64_t size,
                                       uint64_t interval)
{
    c->left -= (int64_t)size;
    if (c->left > 0)
        return 0;
    sxs_alloc_draw(c, interval);
    return 1;
}

/** sxs_alloc_stands_for - return for how many objects of @size bytes one stands that was recorded with
 *  the chance that one of its bytes was chosen, one in @interval. */
double sxs_alloc_stands_for(uint64_t size, uint64_t interval);

#endif
