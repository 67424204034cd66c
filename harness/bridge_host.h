/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_BRIDGE_HOST_H
#define SXS_HARNESS_BRIDGE_HOST_H

#include <stddef.h>

/* The host's side of libsxsbridge.so (harness/bridge/bridge.h). Zeroed: no bridge, nothing is done.
 */
struct sxs_bridge_host {
    void (*seat)(int index);
    void (*end)(void);
};

/* Loads libsxsbridge.so from beside runsxs and tells it the number of apps. Main thread, before any
 * runtime. Returns 0, or -1 with one line in @why. */
int sxs_bridge_host_open(struct sxs_bridge_host *out, int n_apps, char *why, size_t why_size);

/* To be called on the thread that runs app @index, before its runtime starts and after it ended. */
void sxs_bridge_host_seat(const struct sxs_bridge_host *bridge, int index);
void sxs_bridge_host_end(const struct sxs_bridge_host *bridge);

#endif
