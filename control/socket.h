/* SPDX-License-Identifier: MIT */
/** socket.h - the listening socket of this process. */
#ifndef SXS_CONTROL_SOCKET_H
#define SXS_CONTROL_SOCKET_H

#include <stddef.h>

/**
 * sxs_control_listen - make the socket, non-blocking, in the descriptor table of this thread.
 * @start: this process's start time in clock ticks.
 * Returns its descriptor, or a negative errno value with the reason in @why (@why_size bytes).
 */
int sxs_control_listen(unsigned long long start, char *why, size_t why_size);

#endif
