/* SPDX-License-Identifier: MIT */
/** stat_field.h - fields in the text of /proc/PID/stat and /proc/PID/task/TID/stat; proc(5) has
 *  their numbers. */
#ifndef SXS_BASE_STAT_FIELD_H
#define SXS_BASE_STAT_FIELD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SXS_STAT_STATE = 3, /* the first one after the name */
    SXS_STAT_FLAGS = 9, /* of the kernel: PF_... */
    SXS_STAT_UTIME = 14,
    SXS_STAT_STIME = 15,
    SXS_STAT_THREADS = 20,
    SXS_STAT_START = 22, /* clock ticks since the system was started */
    SXS_STAT_RSS = 24,   /* pages */
};

/**
 * sxs_stat_field - find a field of @text, zero-terminated.
 * @n: its number, SXS_STAT_STATE or higher.
 * Returns its first character in @text, or NULL when the text ends before it. Any thread;
 * signal-safe.
 */
static inline const char *sxs_stat_field(const char *text, unsigned n)
{
    const char *at = strrchr(text, ')'); /* the last one: the name may contain ')' too */
    for (unsigned field = SXS_STAT_STATE - 1; field < n && at; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at && *at ? at : NULL;
}

/** sxs_stat_state - return the state of @text: 'R', 'S', 'Z'...; 0: none. As sxs_stat_field(). */
static inline char sxs_stat_state(const char *text)
{
    const char *state = sxs_stat_field(text, SXS_STAT_STATE);
    return state ? *state : '\0';
}

/** sxs_stat_number - return a field as a number; 0: there is none. As sxs_stat_field(). */
static inline unsigned long long sxs_stat_number(const char *text, unsigned n)
{
    const char *field = sxs_stat_field(text, n);
    return field ? strtoull(field, NULL, 10) : 0;
}

/**
 * sxs_stat_age_ns - return how long ago the process or thread of @text was started, ns; suspended time counts.
 * Exact to one clock tick (10 ms), at most that much too long. 0: not known. As sxs_stat_field().
 */
static inline uint64_t sxs_stat_age_ns(const char *text)
{
    struct timespec now;
    const uint64_t  hz = (uint64_t)sysconf(_SC_CLK_TCK),
                   ticks = sxs_stat_number(text, SXS_STAT_START);
    const uint64_t started = ticks / hz * 1000000000u + ticks % hz * (1000000000u / hz);
    clock_gettime(CLOCK_BOOTTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return ticks && started < now_ns ? now_ns - started : 0;
}

#endif
