/* SPDX-License-Identifier: MIT */
#include "cmd/child.h"
#include "base/env.h"

#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS     100000000L
#define END_PERIODS 30u /* of LOOK_NS: the time that a limited child has after a signal */

static int check_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == EACCES ? EACCES : ENOENT;
    if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
        return EACCES;
    return 0;
}

int sxs_child_find(const char *command, char *path, size_t size)
{
    const char *dirs = sxs_env_named("PATH");
    int         found = ENOENT;
    if (strchr(command, '/')) {
        size_t len = strlen(command);
        if (len >= size)
            return ENOENT;
        memcpy(path, command, len + 1);
        return check_executable(path);
    }
    if (!dirs)
        dirs = "/bin:/usr/bin";
    for (const char *at = dirs; *command; at++) {
        size_t len = strcspn(at, ":");
        /* an empty element of PATH means the current folder */
        int n = snprintf(path, size, "%.*s%s%s", (int)len, at, len ? "/" : "./", command);
        int err = n > 0 && (size_t)n < size ? check_executable(path) : ENOENT;
        if (err == 0)
            return 0;
        if (err == EACCES)
            found = EACCES;
        at += len;
        if (!*at)
            break;
    }
    return found;
}

/* Signals that are forwarded to the child. They are blocked here together with SIGCHLD and read
 * with sigtimedwait(); all other signals keep their effect on this process. */
static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH};

static void blocked_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        sigaddset(set, forwarded[i]);
}

/* Returns true when the child has received the signal already. Signals from the terminal go to the
 * whole foreground process group (si_code is SI_KERNEL). A signal that the child itself sent to
 * this process must not be sent back. */
static bool child_has_it(pid_t child, const siginfo_t *info)
{
    if (info->si_code == SI_KERNEL)
        return getpgid(child) == getpgrp();
    return info->si_code <= 0 && info->si_pid == child;
}

static bool is_job_control(int sig)
{
    return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* Reads state changes of the child; returns true when the child has ended. When the child is
 * stopped from the terminal, this process stops, too, so that the shell sees the job stopped; after
 * SIGCONT the child is continued. When the child is stopped by SIGSTOP, this process keeps running,
 * because the sender of the signal will continue only the child. */
static bool reap_child(pid_t child, int *status)
{
    pid_t got;
    while ((got = waitpid(child, status, WUNTRACED | WNOHANG)) == child) {
        if (!WIFSTOPPED(*status))
            return true;
        if (is_job_control(WSTOPSIG(*status))) {
            raise(SIGSTOP);
            kill(child, SIGCONT);
        }
    }
    return got < 0 && errno == ECHILD;
}

static void watch_child(pid_t child, const sigset_t *set, const struct sxs_child_tick *tick,
                        int *status)
{
    siginfo_t info;
    while (!reap_child(child, status)) {
        struct timespec period = {0, tick ? tick->period_ns : 0};
        int             sig = sigtimedwait(set, &info, tick ? &period : NULL);
        if (sig < 0 && tick)
            tick->tick(tick->arg, false);
        if (sig > 0 && sig != SIGCHLD && !child_has_it(child, &info))
            kill(child, sig);
    }
    if (tick)
        tick->tick(tick->arg, true);
}

/* Runs in the child: waits for the value of command->variable and puts it into the environment.
 * Ends the child when this process closed the pipe without writing. */
static void take_value(const struct sxs_child_command *command, int from)
{
    static char entry[PATH_MAX + 64];
    size_t      len = strlen(command->variable) + 1;
    snprintf(entry, sizeof(entry), "%s=", command->variable);
    ssize_t n = read(from, entry + len, sizeof(entry) - len - 1);
    if (n <= 0)
        _exit(SXS_EXIT_FAILED);
    entry[len + (size_t)n] = '\0';
    for (char **e = command->env; *e; e++)
        if (strncmp(*e, entry, len) == 0)
            *e = entry;
}

/* Runs in the child: restores signal mask and SIGCHLD action, then executes the command. When that
 * fails, writes errno to the pipe @tell. */
static _Noreturn void become(const struct sxs_child_command *command, const sigset_t *mask,
                             const struct sigaction *sigchld, int tell)
{
    sigaction(SIGCHLD, sigchld, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    /* execvpe() because it runs scripts without #! by /bin/sh; it does not search PATH because the
     * path has a slash */
    execvpe(command->path, command->argv, command->env);
    int     err = errno;
    ssize_t n = write(tell, &err, sizeof(err));
    _exit(n == (ssize_t)sizeof(err) ? SXS_EXIT_CANNOT_EXECUTE : SXS_EXIT_FAILED);
}

/* Writes the value of command->variable to the child. */
static void give_value(const struct sxs_child_command *command, pid_t child, int to)
{
    const char *value = command->value(command->value_arg, child);
    if (write(to, value, strlen(value)) < 0) /* one piece: shorter than PIPE_BUF */
        kill(child, SIGKILL);
}

/* The action of SIGCHLD with which this command was started. */
static struct sigaction inherited = {.sa_handler = SIG_DFL};

void sxs_child_keep_status(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &dfl, &inherited);
}

int sxs_child_run(const struct sxs_child_command *command, int *status)
{
    sigset_t set, old;
    int      tell[2], go[2], err = 0;
    *status = SXS_EXIT_FAILED;
    if (pipe2(tell, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(go, O_CLOEXEC) != 0) {
        err = errno;
        close(tell[0]);
        close(tell[1]);
        return err;
    }
    blocked_set(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    fflush(NULL);

    pid_t child = fork();
    if (child == 0) {
        close(go[1]); /* so that read() ends when this process dies */
        if (command->variable)
            take_value(command, go[0]);
        become(command, &old, &inherited, tell[1]);
    }
    if (child < 0)
        err = errno;
    else if (command->variable)
        give_value(command, child, go[1]);
    close(go[0]);
    close(go[1]);
    close(tell[1]);
    if (!err && read(tell[0], &err, sizeof(err)) == (ssize_t)sizeof(err)) {
        waitpid(child, status, 0); /* exec failed; err is the child's errno */
        *status = err == ENOENT ? SXS_EXIT_NOT_FOUND : SXS_EXIT_CANNOT_EXECUTE;
    } else if (!err) {
        watch_child(child, &set, command->tick, status);
    }
    close(tell[0]);
    return err;
}

/* Runs in the child. Handlers of this command for these signals are of no use here. */
static _Noreturn void do_work(int (*work)(void *arg), void *arg, pid_t parent, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(SXS_EXIT_FAILED);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++) {
        struct sigaction now;
        if (sigaction(forwarded[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(forwarded[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    exit(work(arg));
}

/* Tells whether the signal asks the child to end. */
static bool asks_to_end(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

/* As watch_child(), until the limit is reached. Returns 0 or ETIMEDOUT. */
static int watch_limited(pid_t child, const sigset_t *set, const struct sxs_child_limit *limit,
                         int *status)
{
    const struct timespec period = {0, LOOK_NS};
    unsigned              n_left = UINT_MAX; /* of periods, after a signal */
    siginfo_t             info;
    while (!reap_child(child, status)) {
        int sig = sigtimedwait(set, &info, &period);
        if (sig > 0 && sig != SIGCHLD && !child_has_it(child, &info))
            kill(child, sig);
        if (asks_to_end(sig) && n_left > END_PERIODS)
            n_left = END_PERIODS;
        if (sig < 0 && n_left != UINT_MAX)
            n_left--;
        if (n_left && !(sig < 0 && limit->gives_up(limit->arg, child)))
            continue;
        kill(child, SIGKILL);
        nanosleep(&period, NULL);
        return reap_child(child, status) && !WIFSIGNALED(*status) ? 0 : ETIMEDOUT;
    }
    return 0;
}

int sxs_child_work(int (*work)(void *arg), void *arg, const struct sxs_child_limit *limit,
                   int *status)
{
    sigset_t set, old;
    pid_t    parent = getpid();
    int      err = 0;
    blocked_set(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        do_work(work, arg, parent, &old);
    if (child < 0)
        err = errno;
    else if (limit)
        err = watch_limited(child, &set, limit, status);
    else
        watch_child(child, &set, NULL, status);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return err;
}

_Noreturn void sxs_child_exit_like(int status)
{
    fflush(NULL);
    if (WIFSIGNALED(status)) {
        int           sig = WTERMSIG(status);
        sigset_t      set;
        struct rlimit none = {0, 0};
        /* The command has already written its core dump; a second dump, of this process, would only
         * confuse. RLIMIT_CORE has no effect when core_pattern is a pipe; PR_SET_DUMPABLE prevents
         * the dump in that case, too. */
        setrlimit(RLIMIT_CORE, &none);
        prctl(PR_SET_DUMPABLE, 0);
        signal(sig, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, sig);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(sig);
        exit(128 + sig);
    }
    exit(WEXITSTATUS(status));
}
