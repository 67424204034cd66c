/* SPDX-License-Identifier: MIT */
/** clock.h - the time as one number. */
#ifndef SXS_CLOCK_H
#define SXS_CLOCK_H

#include <time.h>

#include "manager/base/base.h"

/** @clock's time in nanoseconds. Any thread; async-signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
