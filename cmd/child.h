/* SPDX-License-Identifier: MIT */
/**
 * child.h - run a command as if it had been started directly: signals, job control, its end.
 */
#ifndef SXS_REPORT_CHILD_H
#define SXS_REPORT_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * sxs_child_find - does @command exist as something that can be executed?
 * A name with a slash is taken as it is, others are looked for on PATH.
 * @path: receives the path, @size bytes. Returns 0, ENOENT, or EACCES when what was found cannot be
 * executed (or is a folder).
 */
int sxs_child_find(const char *command, char *path, size_t size);

/**
 * sxs_child_run - start @path with @argv and @env, pass signals on, wait for its end.
 * Signals sent to this process go on to the child; those the terminal sends reach both anyway. When
 * the child is stopped from the terminal, this process stops with it.
 * @tick: called while it runs, and once when it has ended; NULL: not at all.
 * @status: receives what waitpid() gave. Returns 0, or an errno value when nothing was started.
 * One thread, once in a process: leaves SIGCHLD and the forwarded signals blocked.
 */
struct sxs_child_tick {
    void (*tick)(void *arg, bool ended);
    void *arg;
    long  period_ns; /* below a second */
};
int sxs_child_run(const char *path, char **argv, char **env, const struct sxs_child_tick *tick,
                  int *status);

/**
 * sxs_child_exit_like - end this process as @status tells: exit status or signal.
 * Dies of the same signal, without a core dump of its own. Does not return.
 */
_Noreturn void sxs_child_exit_like(int status);

#endif
