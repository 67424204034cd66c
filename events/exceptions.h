/* SPDX-License-Identifier: MIT */
/** exceptions.h - for the thread's end, at which exceptions may be under way. */
#ifndef SXS_EVENTS_EXCEPTIONS_H
#define SXS_EVENTS_EXCEPTIONS_H

#include "events/flights.h"

/** The fate of an exception is known: it is counted. No runtime is called. */
void sxs_exceptions_landed(struct sxs_flight *flight);

#endif
