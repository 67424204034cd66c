/* SPDX-License-Identifier: MIT */
/** when.h - points in time as users write them. Pure except for the time zone; one thread. */
#ifndef SXS_CMD_FLEET_WHEN_H
#define SXS_CMD_FLEET_WHEN_H

#include <stdint.h>
#include <time.h>

/**
 * sxs_fleet_when - read a point in time: "now", "today", "yesterday" (their midnight), "90s ago",
 * "2h ago", "3 days ago", "1 week ago", "2026-11-23", "2026-11-23 18:05", "2026-11-23T18:05:09Z",
 * or
 * "@1700000000". Dates without a zone are local time.
 * @now: the present. @out: seconds since 1970. Returns 0, or -1 when @text is none of these or not
 * between 1970 and 2105.
 */
int sxs_fleet_when(const char *text, time_t now, int64_t *out);

/** sxs_fleet_duration - read "90s", "5m", "2 hours", "1d", "1 week". Returns 0, or -1. @out:
 * seconds,
 *  at least 1. */
int sxs_fleet_duration(const char *text, int64_t *out);

/** What the functions above take, for messages. */
#define SXS_FLEET_WHEN \
    "a time such as \"2h ago\", \"3 days ago\", yesterday, 2026-11-23 or 2026-11-23T18:05Z"

#endif
