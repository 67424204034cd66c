/* SPDX-License-Identifier: MIT */
/**
 * conditions.h - tells when one of the conditions of SXSPROF_ON is fulfilled. At most one event a
 * minute of each condition counts; the others are counted as left out.
 *
 * Used by one thread at a time. The types of exceptions are also read by callbacks.
 */
#ifndef SXS_CONTROL_RING_CONDITIONS_H
#define SXS_CONTROL_RING_CONDITIONS_H

#include "control/keep/keep_settings.h"
#include "control/ring/segment_file.h"

/** sxs_conditions_start - watch for the conditions of @s, which lives as long as the process, from
 *  now on. */
void sxs_conditions_start(const struct sxs_keep_settings *s);

/** sxs_conditions_stop - stop watching. */
void sxs_conditions_stop(void);

/**
 * sxs_conditions_look - check for events since the last call; to be called once a second. Calls
 * @event(event, @arg) for each event that counts.
 */
void sxs_conditions_look(void (*event)(const struct sxs_trigger_event *event, void *arg),
                         void *arg);

/** The processor time over the last five seconds, for sxs_cpu_window_add(). Zeroed at first. */
struct sxs_cpu_window {
    struct {
        uint64_t time_ns, cpu_ns;
    } looks[16];
    unsigned n, at;
};

/** sxs_cpu_window_add - add a look at @time_ns: the process has used @cpu_ns so far. Returns the part of
 *  one processor that it used over the last five seconds or a little more, in thousandths of a
 *  percent; 0: there are no looks from that time yet. Pure. */
uint64_t sxs_cpu_window_add(struct sxs_cpu_window *w, uint64_t time_ns, uint64_t cpu_ns);

#endif
