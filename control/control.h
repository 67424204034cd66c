/* SPDX-License-Identifier: MIT */
/**
 * control.h - the control socket: requests of the command to a process that has the library.
 *
 * Two threads of the library serve it. "sxsprof control" listens and talks to clients. Its
 * descriptor table is the one of base/descriptors.h, so the host neither sees nor closes its
 * sockets. It answers `status` itself, at any time. "sxsprof session" begins and ends sessions, one
 * request after the other, and ends sessions whose time limit has been reached; it has the host's
 * descriptor table, because calls of a runtime on it can start threads of that runtime.
 *
 * The socket has the abstract name "sxsprof/PID/START" (docs/internals/live.md). Without a table of
 * its own (base/descriptors.h) there is no socket; time limits of sessions still work.
 */
#ifndef SXS_CONTROL_CONTROL_H
#define SXS_CONTROL_CONTROL_H

#include <stddef.h>

struct sxs_message; /* control/message/message.h */

/**
 * sxs_control_start - start both threads, unless SXSPROF_CONTROL=off.
 * Only the first call has an effect. To be called after sxs_manager_init(). When there can be no
 * socket, logs one line with the reason; the process runs on. Not in a forked child. Any thread;
 * not signal-safe.
 */
void sxs_control_start(void);

/**
 * sxs_control_is_abandoned - tell whether the command that asked for an attach has ended.
 * @request: "sxsprof 1 attach". With held=1, the command marks the folder `out` as in use as long as it runs
 *   (base/held.h). Returns 1 if the folder is not marked; 0 if it is, or if that cannot be found out. Any
 *   thread; not signal-safe.
 */
int sxs_control_is_abandoned(const struct sxs_message *request);

/**
 * sxs_control_begun - set the time limit of a session that an attach has begun or joined, as its request says.
 * @request: "sxsprof 1 attach"; duration_ms and detach are read, counted from now on. Replaces an
 *   earlier time limit of the same session. With held=1, the session also ends soon after the command has
 *   ended, unless a request `start` has joined the session before.
 * Returns 0; -EINVAL: duration_ms is not understood (@why, @why_size bytes); -ENOTSUP: the threads
 * do not run (SXSPROF_CONTROL=off, or a forked child), and the session has no end of its own.
 * Any thread; not signal-safe.
 */
int sxs_control_begun(const struct sxs_message *request, char *why, size_t why_size);

/**
 * sxs_control_not_begun - handle an attach that could not begin its session: detach from the runtimes at
 * the time at which its request would have ended the session, unless another session is on then.
 * @request: as for sxs_control_begun(). Any thread; not signal-safe.
 */
void sxs_control_not_begun(const struct sxs_message *request);

#endif
