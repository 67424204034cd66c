/* SPDX-License-Identifier: MIT */
/** churn_host.h - starts and ends the stress of libsxsbridge.so (option --churn). */
#ifndef SXS_HARNESS_CHURN_HOST_H
#define SXS_HARNESS_CHURN_HOST_H

#include <stddef.h>

/* Starts the stress that @what describes, see sxsbridge_churn_start() in harness/bridge/bridge.h.
 * Returns 0, or -1 with one line in @why. Main thread, before any runtime is loaded. */
int sxs_churn_host_start(const char *what, char *why, size_t why_size);

/* Ends the stress, if it was started, and prints a line with its counts. Returns 1 if something in
 * it failed, else 0. */
size_t sxs_churn_host_end(void);

#endif
