/* SPDX-License-Identifier: MIT */
/**
 * child.h - run a command as if the user had started it directly: signals, job control, exit
 * status.
 */
#ifndef SXS_CMD_CHILD_H
#define SXS_CMD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * sxs_child_find - find the file that @command would execute.
 * A name that contains a slash is used as it is; other names are searched for on PATH.
 * @path: receives the path; holds @size bytes.
 * Returns 0, ENOENT when there is no such file, or EACCES when a file was found that cannot be
 * executed (or is a folder).
 */
int sxs_child_find(const char *command, char *path, size_t size);

/**
 * A function that sxs_child_run() calls periodically while the child runs, and once, with @ended,
 * when the child has ended.
 */
struct sxs_child_tick {
    void (*tick)(void *arg, bool ended);
    void *arg;
    long  period_ns; /* less than one second */
};

/**
 * sxs_child_run - start @path with @argv and @env, forward signals to it, and wait for its end.
 * Signals sent to this process are forwarded to the child; signals from the terminal reach both
 * processes anyway. When the child is stopped from the terminal, this process stops, too.
 * @tick: NULL: nothing is called. @status: receives the status from waitpid().
 * Returns 0, or an errno value when nothing was started.
 * For a process with one thread, once: SIGCHLD and the forwarded signals stay blocked.
 */
int sxs_child_run(const char *path, char **argv, char **env, const struct sxs_child_tick *tick,
                  int *status);

/**
 * sxs_child_exit_like - end this process as the child ended: with its exit status or by its signal.
 * @status: from waitpid(). Writes no core dump. Does not return.
 */
_Noreturn void sxs_child_exit_like(int status);

#endif
