/* SPDX-License-Identifier: MIT */
/**
 * pace.h - keeps the number of reports a second within bounds.
 *
 * A program that allocates very much a second would spend much of its time in reports, and more than
 * the session's file can take. So when more than SXS_PACE_MAX allocations are reported in one period,
 * threads sample with an interval that is larger by a power of two. Each report has the weight of the
 * interval that it was sampled with, so estimates stay right. The interval is halved again for each
 * period that passes.
 */
#ifndef SXS_ALLOCATOR_PACE_H
#define SXS_ALLOCATOR_PACE_H

#include <stdint.h>

#include "base/base.h"

#define SXS_PACE_NS    UINT64_C(10000000) /* a period */
#define SXS_PACE_MAX   200u               /* reports in it, of all threads, at the full rate */
#define SXS_PACE_STEP  64u                /* further reports for which an interval is doubled */
#define SXS_PACE_SHIFT 6u                 /* how often it is doubled at most */

/** How a thread samples. Zero at first. */
struct sxs_thread_pace {
    uint32_t shift;  /* its intervals are larger by 2^shift */
    uint32_t period; /* number of the period in which it last reported */
};

/**
 * sxs_pace_report - count a report of the calling thread, whose state @pace is, and set the thread's
 * next shift. @now_ns: the time. Any thread; signal-safe. */
SXS_SIGSAFE void sxs_pace_report(struct sxs_thread_pace *pace, uint64_t now_ns);

#endif
