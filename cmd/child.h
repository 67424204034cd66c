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
#include <sys/types.h>

/**
 * sxs_child_find - find the file that @command would execute.
 * A name that contains a slash is used as it is; other names are searched for on PATH.
 * @path: receives the path; holds @size bytes.
 * Returns 0, ENOENT when there is no such file, or EACCES when a file was found that cannot be
 * executed (or is a folder).
 */
int sxs_child_find(const char *command, char *path, size_t size);

/**
 * sxs_child_keep_status - make sure that the statuses of children are kept: a command that was started
 * with SIGCHLD ignored would lose them. A command that sxs_child_run() starts has it ignored again.
 */
void sxs_child_keep_status(void);

/**
 * A function that sxs_child_run() calls periodically while the child runs, and once, with @ended,
 * when the child has ended.
 */
struct sxs_child_tick {
    void (*tick)(void *arg, bool ended);
    void *arg;
    long  period_ns; /* less than one second */
};

/** A command to run. Strings and arrays are borrowed. */
struct sxs_child_command {
    const char                  *path; /* file to execute */
    char                       **argv, **env;
    const struct sxs_child_tick *tick; /* NULL: nothing is called */
    /* A variable of @env whose value depends on the child's PID. NULL: none. */
    const char *variable;
    /* Called in this process after the child exists and before the child executes the file. Returns
     * the value of the variable (borrowed, shorter than PATH_MAX). */
    const char *(*value)(void *arg, pid_t child);
    void *value_arg;
};

/**
 * sxs_child_run - start a command, forward signals to it, and wait for its end.
 * Signals sent to this process are forwarded to the child; signals from the terminal reach both
 * processes anyway. When the child is stopped from the terminal, this process stops, too.
 * @status: receives the status from waitpid(). When nothing was started, receives the exit status
 * of env(1) for the reason: 125 no process, 126 the file cannot be executed, 127 it or its
 * interpreter does not exist.
 * Returns 0, or an errno value when nothing was started.
 * For a process with one thread, once: SIGCHLD and the forwarded signals stay blocked.
 */
int sxs_child_run(const struct sxs_child_command *command, int *status);

/** When sxs_child_work() gives the child up: a file system may hold it where no signal ends it. Then it has three
 *  seconds to end after a signal that asks for that, too. */
struct sxs_child_limit {
    bool (*gives_up)(void *arg, pid_t child); /* called ten times a second */
    void *arg;
};

/**
 * sxs_child_work - call @work in a forked child and wait for its end; signals as above. The child's
 * standard streams are those of this process; it exits with the result of @work, or is killed when
 * this process dies.
 * @limit: NULL: it may take any time.
 * @status: receives the status from waitpid(). Returns 0, or an errno value when there is no child;
 * ETIMEDOUT: the child was given up, and is killed as soon as what it waits for lets it end.
 * For a process with one thread. The signals are blocked only while the child runs.
 */
int sxs_child_work(int (*work)(void *arg), void *arg, const struct sxs_child_limit *limit,
                   int *status);

/**
 * sxs_child_exit_like - end this process as the child ended: with its exit status or by its signal.
 * @status: from waitpid(). Writes no core dump. Does not return.
 */
_Noreturn void sxs_child_exit_like(int status);

#endif
