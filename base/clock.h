/* SPDX-License-Identifier: MIT */
/** clock.h - convert times to nanoseconds and back, and read a clock in nanoseconds. */
#ifndef SXS_BASE_CLOCK_H
#define SXS_BASE_CLOCK_H

#include <time.h>

#include "base/base.h"

/** sxs_ns_of - convert @time to nanoseconds. @time must not be negative.
 *  sxs_timespec_of - convert @ns nanoseconds to a timespec.
 *  Both may be called from any thread and are async-signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_ns_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
SXS_SIGSAFE static inline struct timespec sxs_timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/** sxs_now_ns - return the time of @clock in nanoseconds. Any thread; async-signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return sxs_ns_of(now);
}

/** sxs_cpu_clock_of - return the kernel's number of the clock that counts the CPU time of a thread of
 *  this process. @tid: its kernel ID. Pure. */
SXS_SIGSAFE static inline clockid_t sxs_cpu_clock_of(uint32_t tid)
{
    return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

/** sxs_cpu_ns_of - return the CPU time of a thread in nanoseconds; 0: it has ended. Any thread;
 *  async-signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_cpu_ns_of(uint32_t tid)
{
    struct timespec used;
    return clock_gettime(sxs_cpu_clock_of(tid), &used) == 0 ? sxs_ns_of(used) : 0;
}

#endif
