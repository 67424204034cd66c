/* SPDX-License-Identifier: MIT */
/** thread_state.h - the thread state of the tool "exceptions": a thread's in-flight exceptions. */
#ifndef SXS_TOOLS_EXCEPTIONS_THREAD_STATE_H
#define SXS_TOOLS_EXCEPTIONS_THREAD_STATE_H

#include "tools/exceptions/in_flight.h"

struct sxs_exceptions_thread {
    uint32_t                  tid;
    unsigned                  session; /* the number of the session that the exceptions belong to */
    struct sxs_in_flight_list in_flight;
};

/** sxs_exceptions_thread - return the calling thread's state; make the state at the first call.
 *  @landed: see struct sxs_in_flight_list; always the same function. When the thread ends, it is
 *  called for the exceptions that are still in flight.
 *  Returns NULL when there is no memory. The state lives as long as the thread. */
struct sxs_exceptions_thread *sxs_exceptions_thread(
    void (*landed)(struct sxs_in_flight *exception));

/** sxs_exceptions_thread_if_any - return the calling thread's state, or NULL if the thread has
 *  none in this session. Signal-safe. */
SXS_SIGSAFE struct sxs_exceptions_thread *sxs_exceptions_thread_if_any(void);

/** sxs_exceptions_threads_end - end the session for all threads: waits until no thread that ends is
 *  inside @landed; those that end later do not call it. No thread may be in a callback. */
void sxs_exceptions_threads_end(void);

#endif
