/* SPDX-License-Identifier: MIT */
/**
 * flights.h - the exceptions under way on one thread, oldest first, and what becomes of each.
 *
 * Runtimes tell of a throw, of the search for a catcher and of the unwinding, but not which exception
 * they speak of: it is the youngest. One that is thrown by a filter, a finally block or a catch block
 * lies above the one that block belongs to. Some never come to a catcher; that is found out when
 * something happens that could not if they were still under way. Nothing here calls a runtime.
 */
#ifndef SXS_EVENTS_FLIGHTS_H
#define SXS_EVENTS_FLIGHTS_H

#include <stdint.h>

#include "session/format/events.h"

#define SXS_FLIGHTS_MOST 16u

struct sxs_flight {
    unsigned    runtime; /* number of the runtime whose it is: valid after the runtime has ended */
    void       *record;     /* the user's */
    uintptr_t   sp;         /* where it was last spoken of: later code of it runs below */
    uint64_t    time_ns;    /* when it was thrown */
    uint32_t    type, thrown, caught; /* names; the user's */
    uint8_t     fate;       /* enum sxs_exception_fate; CAUGHT: its handler runs */
    uint8_t     rethrown;
    uint8_t     in_filter;  /* a filter runs for it */
    uint8_t     left;       /* another one has left the function whose finally block ran for it */
    uint64_t    finally_fn; /* function whose finally block runs for it; 0: none */
    uint64_t    unwind_fn;  /* function that is being unwound; 0: none */
};

/** One thread's. Zeroed: none. */
struct sxs_flights {
    uint32_t          n;
    struct sxs_flight all[SXS_FLIGHTS_MOST];
    /** What is called for each when its fate is decided, which is in flight->fate. */
    void (*landed)(struct sxs_flight *flight);
};

/** A throw: returns its flight, zeroed but for @runtime and @sp; never NULL. */
struct sxs_flight *sxs_flights_throw(struct sxs_flights *f, unsigned runtime, uintptr_t sp);
/** The one that runtime number @runtime speaks of, spoken of at @sp, or NULL. */
struct sxs_flight *sxs_flights_current(struct sxs_flights *f, unsigned runtime, uintptr_t sp);

void sxs_flights_filter_enter(struct sxs_flights *f, unsigned runtime, uintptr_t sp);
void sxs_flights_filter_leave(struct sxs_flights *f, unsigned runtime);
void sxs_flights_unwind_enter(struct sxs_flights *f, unsigned runtime, uintptr_t sp, uint64_t fn);
void sxs_flights_unwind_leave(struct sxs_flights *f, unsigned runtime, uintptr_t sp);
void sxs_flights_finally_enter(struct sxs_flights *f, unsigned runtime, uintptr_t sp, uint64_t fn);
void sxs_flights_finally_leave(struct sxs_flights *f, unsigned runtime, uintptr_t sp);
/** Its handler is entered: it lands, and so do those that it replaced. */
void sxs_flights_catcher_enter(struct sxs_flights *f, unsigned runtime, uintptr_t sp);
void sxs_flights_catcher_leave(struct sxs_flights *f, unsigned runtime);
/** The thread ends: those left land. */
void sxs_flights_end(struct sxs_flights *f);

#endif
