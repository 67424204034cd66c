/* SPDX-License-Identifier: MIT */
/** thread_state.h - the thread state of the tool "events". */
#ifndef SXS_TOOLS_EVENTS_THREAD_STATE_H
#define SXS_TOOLS_EVENTS_THREAD_STATE_H

#include <stdint.h>

struct sxs_event_span;

#define SXS_OPEN_SPANS 32u /* compilations and loads nest: each can cause others */

/** A compilation or load that has started and not ended. */
struct sxs_open_span {
    uint64_t id, time_ns; /* FunctionID, ModuleID or ClassID; time of its start */
    uint32_t runtime; /* its number */
    uint32_t kind;    /* enum sxs_event_kind */
};

struct sxs_events_thread {
    uint32_t               tid;
    unsigned               session; /* the number of the session that all below belongs to */
    uint32_t               n_open;
    struct sxs_open_span   open[SXS_OPEN_SPANS];
    /* The runtime's event with a method's tier may come before or after the end of its
     * compilation. */
    uint64_t               compiled_fn; /* FunctionID of the latest compilation */
    struct sxs_event_span *compiled;    /* its record, which lacks the tier; NULL: none */
    uint64_t               reported_fn; /* FunctionID of an early event; 0: none */
    uint32_t               reported_size; /* bytes of code */
    uint8_t                reported_tier; /* enum sxs_code_tier */
};

/** sxs_events_thread - return the calling thread's state; make the state at the first call. Returns
 *  NULL when there is no memory. The state lives as long as the thread. */
struct sxs_events_thread *sxs_events_thread(void);

/** sxs_events_thread_if_any - return the calling thread's state, or NULL if the thread has none
 *  in this session. */
struct sxs_events_thread *sxs_events_thread_if_any(void);

#endif
