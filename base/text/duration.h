/* SPDX-License-Identifier: MIT */
/** duration.h - times that a user gives: "30s", "500ms", "10m", "2h", "1d". */
#ifndef SXS_BASE_TEXT_DURATION_H
#define SXS_BASE_TEXT_DURATION_H

#include <stddef.h>
#include <stdint.h>

/** For messages about a text that is no duration, where a number without a unit is accepted. */
#define SXS_DURATION_EXPECTED "a duration, as 30s, 500ms, 10m, 2h or 1d, at most a year"

/**
 * sxs_duration_read - read a whole number with one of the units ms, s, m, h and d.
 * @text: @len bytes; what follows them is not part of it. It ends with a zero somewhere.
 * @bare_ns: the unit of a number without one, in nanoseconds; 0: a unit is needed.
 * @ns: receives nanoseconds, at most 366 days.
 * Returns 0, or -1; then @ns is unchanged. Pure; any thread.
 */
int sxs_duration_read(const char *text, size_t len, uint64_t bare_ns, uint64_t *ns);

#endif
