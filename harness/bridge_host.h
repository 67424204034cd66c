/* SPDX-License-Identifier: MIT */
/** bridge_host.h - the functions of libsxsbridge.so that runsxs calls. */
#ifndef SXS_HARNESS_BRIDGE_HOST_H
#define SXS_HARNESS_BRIDGE_HOST_H

#include <stddef.h>

/* Exports of libsxsbridge.so for the host (harness/bridge/bridge.h). A zeroed object means that
 * there is no bridge; the functions below then do nothing. */
struct sxs_bridge_host {
    void (*seat)(int index);
    void (*end)(void);
};

/* Loads libsxsbridge.so from the folder of runsxs and tells it the number of apps. Returns 0, or -1
 * with one line in @why. Main thread, before any runtime is loaded. */
int sxs_bridge_host_open(struct sxs_bridge_host *out, int n_apps, char *why, size_t why_size);

/* Call these on the thread that runs app @index: seat before its runtime starts, end after it has
 * ended. */
void sxs_bridge_host_seat(const struct sxs_bridge_host *bridge, int index);
void sxs_bridge_host_end(const struct sxs_bridge_host *bridge);

#endif
