/* SPDX-License-Identifier: MIT */
/**
 * control.h - the control socket: requests of the command to a process that has the library.
 *
 * Two threads of the library serve it. "sxsprof control" listens and talks to clients. Its
 * descriptor table is the one of base/descriptors.h, so the host neither sees nor closes its
 * sockets. It answers `status` itself, at any time. "sxsprof session" begins and ends sessions, one
 * request after the other, and ends a session that has a time limit; it has the host's descriptor
 * table, because runtimes may start threads of theirs on it.
 *
 * The socket has the abstract name "sxsprof/PID/START" (docs/internals/live.md). Without a table of
 * its own (base/descriptors.h) there is no socket; time limits of sessions work all the same.
 */
#ifndef SXS_CONTROL_CONTROL_H
#define SXS_CONTROL_CONTROL_H

#include <stddef.h>

struct sxs_message; /* control/message/message.h */

/**
 * sxs_control_start - start both threads, unless SXSPROF_CONTROL=off.
 * Only the first call has an effect. To be called behind sxs_manager_init(). When there can be no
 * socket, logs one line with the reason; the process runs on. Not in a forked child. Any thread;
 * not signal-safe.
 */
void sxs_control_start(void);

/**
 * sxs_control_is_abandoned - tell whether the command that asked for an attach has ended meanwhile.
 * @request: "sxsprof 1 attach". With held=1, the command marks the folder `out` as in use as long as it lives
 *   (base/held.h). Returns 1 if it is not marked; 0: it is, or that is not known. Any thread; not signal-safe.
 */
int sxs_control_is_abandoned(const struct sxs_message *request);

/**
 * sxs_control_begun - an attach has begun a session, or joined it: end it when its request says.
 * @request: "sxsprof 1 attach"; duration_ms and detach are read, counted from now on. Replaces an
 *   earlier time limit of the same session. With held=1, the session also ends soon after the end of the
 *   command, until a request `start` has joined it.
 * Returns 0; -EINVAL: duration_ms is not understood (@why, @why_size bytes); -ENOTSUP: the threads
 * do not run (SXSPROF_CONTROL=off, or a forked child), and the session has no end of its own.
 * Any thread; not signal-safe.
 */
int sxs_control_begun(const struct sxs_message *request, char *why, size_t why_size);

/**
 * sxs_control_not_begun - an attach could not begin its session: detach from the runtimes when its
 * request says that the session should have ended, unless another session is on then.
 * @request: as for sxs_control_begun(). Any thread; not signal-safe.
 */
void sxs_control_not_begun(const struct sxs_message *request);

#endif
