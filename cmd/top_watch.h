/* SPDX-License-Identifier: MIT */
/** top_watch.h - shows the session of another user's process in a child: a file system of that user may never
 *  answer, and hold whoever reads where no signal ends it. */
#ifndef SXS_CMD_TOP_WATCH_H
#define SXS_CMD_TOP_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * sxs_top_watch - call @show in a child. When one look at the session takes longer than fifteen seconds, or the child
 * does not end within three seconds after a signal, it is given up, and the terminal is as before.
 * @pid: named in the message about that. @screen: @show uses the terminal.
 * Returns an exit status. For a process with one thread.
 */
int sxs_top_watch(int (*show)(void *arg), void *arg, pid_t pid, bool screen);

#endif
