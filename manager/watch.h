/* SPDX-License-Identifier: MIT */
/**
 * watch.h - events that a condition of the ring waits for: pauses for collections, and exceptions of some types.
 *
 * The tools gc and exceptions report these events, and the ring of segments (control/ring.h) takes the
 * reports once a second. Nothing is reported unless a condition needs it.
 */
#ifndef SXS_MANAGER_WATCH_H
#define SXS_MANAGER_WATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define SXS_WATCH_TYPE 200 /* bytes of the name of a type; longer ones are cut */

struct sxs_watch_event {
    uint64_t time_ns;              /* CLOCK_MONOTONIC; of a pause its begin */
    uint64_t duration_ns;          /* of a pause; 0: an exception */
    unsigned runtime;              /* its number */
    char     type[SXS_WATCH_TYPE]; /* of the exception */
};

/** The events that are waited for. */
struct sxs_watch {
    uint64_t pause_ns; /* pauses that are longer; 0: none */
    /* Returns 1 if exceptions of the type @type are waited for. NULL: none are. Called on threads of
     * the program, in callbacks; a call that has begun may end after sxs_watch_for() was called with
     * other events. Takes no lock. */
    int (*is_type)(const char *type);
};

/** sxs_watch_for - set the events to wait for from now on. @watch: copied; NULL: none. Events that
 *  were not taken are dropped. Any thread; not signal-safe. */
void sxs_watch_for(const struct sxs_watch *watch);

/** sxs_watch_take - take the oldest event. @n_lost: receives how many were dropped since the last
 *  call, because 64 were waiting. Returns 1, or 0 if there is none. Any thread. */
int sxs_watch_take(struct sxs_watch_event *out, uint64_t *n_lost);

/** sxs_watch_pause - a runtime stopped its threads for a collection. Any thread, also while threads
 *  are stopped. */
void sxs_watch_pause(unsigned runtime, uint64_t time_ns, uint64_t duration_ns);

/** sxs_watch_type - return 1 if exceptions of the type @type are waited for. In callbacks. */
int sxs_watch_type(const char *type);

/** sxs_watch_exception - an exception of a type that is waited for was thrown. In callbacks. */
void sxs_watch_exception(unsigned runtime, uint64_t time_ns, const char *type);

#endif
