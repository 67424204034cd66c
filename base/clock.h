/* SPDX-License-Identifier: MIT */
/** clock.h - the time as one number. */
#ifndef SXS_CLOCK_H
#define SXS_CLOCK_H

#include <time.h>

#include "base/base.h"

/** sxs_ns_of - @time in nanoseconds. It must not be negative. Any thread; async-signal-safe.
 *  sxs_timespec_of - the reverse: @ns nanoseconds as a timespec. The same. */
SXS_SIGSAFE static inline uint64_t sxs_ns_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
SXS_SIGSAFE static inline struct timespec sxs_timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/** @clock's time in nanoseconds. Any thread; async-signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return sxs_ns_of(now);
}

#endif
