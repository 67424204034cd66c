/* SPDX-License-Identifier: MIT */
/** version.h - compares versions of runtimes. */
#ifndef SXS_HARNESS_VERSION_H
#define SXS_HARNESS_VERSION_H

#include <stdbool.h>

/* Returns true if @version is @prefix, or @prefix followed by further parts: "8" matches "8.0.29",
 * but not "80.1". Any thread. */
bool sxs_version_matches(const char *version, const char *prefix);

/* Compares versions by their numbers. Returns a value below 0 when @a is older, 0 when they are
 * equal, above 0 when @b is older. "9.0.0-rc.1" is older than "9.0.0". Any thread. */
int sxs_version_compare(const char *a, const char *b);

#endif
