/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_CHURN_HOST_H
#define SXS_HARNESS_CHURN_HOST_H

#include <stddef.h>

/* Starts the unrest that @what describes (harness/bridge/bridge.h). Main thread, before any runtime.
 * Returns 0, or -1 with one line in @why. */
int sxs_churn_host_start(const char *what, char *why, size_t why_size);

/* Ends it, if any was started, and prints a line of what it did. Returns how much of it failed: 0 or 1. */
size_t sxs_churn_host_end(void);

#endif
