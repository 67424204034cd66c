/* SPDX-License-Identifier: MIT */
/** thread_state.h - the exceptions that are in flight on the calling thread. */
#ifndef SXS_EXCEPTIONS_THREAD_STATE_H
#define SXS_EXCEPTIONS_THREAD_STATE_H

#include "tools/exceptions/in_flight.h"

struct sxs_exceptions_thread {
    uint32_t           tid;
    struct sxs_flights flights;
};

/** The calling thread's, made when first asked for; NULL: no memory. Lives as long as the thread. When the thread ends,
 *  the exceptions that are still in flight land. @landed: see struct sxs_flights; always the same function. */
struct sxs_exceptions_thread *sxs_exceptions_thread(void (*landed)(struct sxs_flight *flight));

/** The same, NULL when it was never asked for. */
struct sxs_exceptions_thread *sxs_exceptions_thread_if_any(void);

#endif
