/* SPDX-License-Identifier: MIT */
/* hijack.c - preloaded into a verb that reads sessions: what code of a stranger could do there, if a
 * mistake in a reader let it run. When the verb opens the file HIJACK_AT, it tries everything once
 * and writes "NAME=yes" or "NAME=no" for each attempt to HIJACK_LOG, which was opened before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *say;
static char  outside[4096];

__attribute__((constructor)) static void open_log(void)
{
    const char *path = getenv("HIJACK_LOG"), *folder = getenv("HIJACK_OUTSIDE");
    say = path ? fopen(path, "ae") : NULL;
    snprintf(outside, sizeof(outside), "%s", folder ? folder : "");
}

static const char *in(const char *name)
{
    static char path[8192];
    snprintf(path, sizeof(path), "%s/%s", outside, name);
    return path;
}

static void tell(const char *name, int done)
{
    fprintf(say, "%s=%s\n", name, done ? "yes" : "no");
}

static int executes(void)
{
    int   status = 1;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int makes_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child > 0;
}

static int makes(const char *name)
{
    int fd = open(in(name), O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int changes(const char *name)
{
    int fd = open(in(name), O_WRONLY | O_TRUNC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The kernel sends a signal of one's choice to the owner of a pipe. */
static int kills_by_pipe(pid_t pid)
{
    int ends[2];
    return pid > 0 && pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, pid) == 0 &&
           fcntl(ends[0], F_SETSIG, SIGKILL) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC) == 0 &&
           write(ends[1], "", 1) == 1;
}

static void try_all(void)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    const char      *parent = getenv("HIJACK_PID");
    tell("make", makes("made"));
    tell("change", changes("kept"));
    tell("remove", unlink(in("kept")) == 0);
    tell("folder", mkdir(in("folder"), 0700) == 0);
    tell("device", mknod(in("device"), S_IFCHR | 0600, 0x103) == 0);
    tell("kill", parent && kill(atoi(parent), 0) == 0);
    tell("kill by a pipe", parent && kills_by_pipe(atoi(parent)));
    tell("mode", chmod(in("kept"), 04755) == 0);
    tell("owner", chown(in("kept"), 61001, 61001) == 0);
    tell("process", makes_process());
    tell("execute", executes());
    tell("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    tell("network", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    tell("user", setuid(61001) == 0);
    sigaction(SIGPIPE, &ignored, NULL);
    fflush(say);
}

static void look_at(const char *path)
{
    const char *at = getenv("HIJACK_AT"), *name = strrchr(path, '/');
    FILE       *to = say;
    if (!to || !at || strcmp(name ? name + 1 : path, at) != 0)
        return;
    unsetenv("HIJACK_AT");
    try_all();
}

int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
int openat(int dir, const char *path, int flags, ...)
{
    static int (*real)(int, const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "openat");
    look_at(path);
    return real(dir, path, flags, mode);
}
