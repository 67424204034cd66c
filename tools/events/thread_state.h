/* SPDX-License-Identifier: MIT */
/** thread_state.h - what the tool "events" knows of the calling thread. */
#ifndef SXS_EVENTS_THREAD_STATE_H
#define SXS_EVENTS_THREAD_STATE_H

#include <stdint.h>

struct sxs_event_span;

#define SXS_OPEN_SPANS 32u /* one compilation can ask for another, a load for many */

/** Something under way. */
struct sxs_open_span {
    uint64_t id, time_ns;
    uint32_t runtime; /* its number */
    uint32_t kind;    /* enum sxs_event_kind */
};

struct sxs_events_thread {
    uint32_t               tid;
    uint32_t               n_open;
    struct sxs_open_span   open[SXS_OPEN_SPANS];
    uint64_t               compiled_fn; /* compiled last; its tier is reported before its end or after */
    struct sxs_event_span *compiled;
    uint64_t               reported_fn;
    uint32_t               reported_size;
    uint8_t                reported_tier;
};

/** The calling thread's, made when first asked for; NULL: no memory. Lives as long as the thread. */
struct sxs_events_thread *sxs_events_thread(void);

/** The same, NULL when it was never asked for. */
struct sxs_events_thread *sxs_events_thread_if_any(void);

#endif
