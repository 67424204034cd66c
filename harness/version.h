/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_VERSION_H
#define SXS_HARNESS_VERSION_H

#include <stdbool.h>

/* Whether @version is @prefix or goes on after it with a new part: "8" fits "8.0.29", not "80.1".
 * Any thread. */
bool sxs_version_matches(const char *version, const char *prefix);

/* Orders versions by their numbers, below 0 when @a is the older one; "9.0.0-rc.1" is older than
 * "9.0.0". Any thread. */
int sxs_version_compare(const char *a, const char *b);

#endif
