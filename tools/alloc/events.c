/* SPDX-License-Identifier: MIT */
#include "tools/alloc/events.h"

#include "base/chance.h"
#include "base/payload.h"
#include "tools/options/alloc_options.h"

/* Skips a text: UTF-16, with its zero. */
static void skip_text(struct sxs_payload *c)
{
    while (sxs_payload_take(c, 2) != 0)
        ;
}

int sxs_alloc_decode(uint32_t id, uint32_t version, const void *data, size_t size,
                     struct sxs_alloc_event *out)
{
    struct sxs_payload c = {data, size, 0};
    *out = (struct sxs_alloc_event){0};
    if (id == SXS_ALLOC_SAMPLED) {
        out->heap = (uint32_t)sxs_payload_take(&c, 4);
        sxs_payload_take(&c, 2); /* the runtime's number, always 0 */
        out->type = sxs_payload_take(&c, 8);
        skip_text(&c);
    } else if (id == SXS_ALLOC_TICK && version >= 4) {
        sxs_payload_take(&c, 4); /* the amount, cut to 32 bits */
        out->heap = (uint32_t)sxs_payload_take(&c, 4);
        sxs_payload_take(&c, 2);
        out->amount = sxs_payload_take(&c, 8);
        out->type = sxs_payload_take(&c, 8);
        skip_text(&c);
        sxs_payload_take(&c, 4); /* number of the heap */
    } else {
        return 0;
    }
    out->address = sxs_payload_take(&c, 8);
    out->size = sxs_payload_take(&c, 8);
    return !c.is_cut && out->type && out->size && out->heap <= SXS_HEAP_PINNED;
}

double sxs_alloc_stands_for(uint64_t size, uint64_t interval)
{
    return 1 / sxs_chance((double)size / (double)interval);
}

/* The number of the first chosen byte, if each is chosen with the chance 1 - exp(-1 / interval): an interval
 * that is exponentially distributed, rounded up. */
void sxs_alloc_draw(struct sxs_alloc_countdown *c, uint64_t interval)
{
    c->left = 1 + (int64_t)((double)interval * sxs_minus_log(sxs_random_fraction(&c->random)));
}

double sxs_alloc_keep_sampled(uint64_t size, uint64_t interval, double fraction)
{
    /* The runtime's chance is 1 - (1 - 1/D)^size: 1/D of a byte, D = SXS_ALLOC_RUNTIME_INTERVAL. It
     * equals 1 - exp(-size/D'), D' = -1 / ln(1 - 1/D), which is D - 1/2 and a bit. */
    double theirs = sxs_chance((double)size / ((double)SXS_ALLOC_RUNTIME_INTERVAL - 0.5));
    double ours = interval > SXS_ALLOC_RUNTIME_INTERVAL
                      ? sxs_chance((double)size / (double)interval)
                      : theirs;
    return fraction * theirs <= ours ? 1 / ours : 0;
}

double sxs_alloc_average_of(sxs_alloc_average *average, uint64_t amount)
{
    uint64_t was = atomic_load_explicit(average, memory_order_relaxed);
    uint64_t now = was ? was - was / 32 + amount / 2 : amount * 16; /* + 16 amount / 32 */
    atomic_store_explicit(average, now, memory_order_relaxed);
    return (double)now / 16;
}

/* A tick stands for the bytes handed out since the last one. */
double sxs_alloc_keep_tick(uint64_t size, double amount, uint64_t interval, double fraction)
{
    if (fraction * (double)interval > amount)
        return 0;
    if (amount < (double)interval)
        amount = (double)interval;
    return amount / (double)size;
}
