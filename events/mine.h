/* SPDX-License-Identifier: MIT */
/** mine.h - what both tools know of the calling thread. */
#ifndef SXS_EVENTS_MINE_H
#define SXS_EVENTS_MINE_H

#include "events/flights.h"

#define SXS_OPEN_SPANS 32u /* one compilation can ask for another, a load for many */

/** Something under way. */
struct sxs_open_span {
    uint64_t id, time_ns;
    uint32_t runtime; /* its number */
    uint32_t kind;    /* enum sxs_event_kind */
};

struct sxs_events_mine {
    uint32_t              tid;
    uint32_t              n_open;
    struct sxs_open_span  open[SXS_OPEN_SPANS];
    uint64_t               compiled_fn; /* compiled last; its tier is told before its end or after */
    struct sxs_event_span *compiled;
    uint64_t               told_fn;
    uint32_t               told_size;
    uint8_t                told_tier;
    struct sxs_flights    flights;
};

/** Once, before any other. Returns 0 or an errno value. @landed: see flights.h. */
int sxs_events_mine_init(void (*landed)(struct sxs_flight *flight));

/** The calling thread's, made when first asked for; NULL: no memory. Lives as long as the thread. */
struct sxs_events_mine *sxs_events_mine(void);

/** The same, NULL when it was never asked for. */
struct sxs_events_mine *sxs_events_mine_if_any(void);

#endif
