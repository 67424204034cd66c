/* SPDX-License-Identifier: MIT */
/* hijack.c - preloaded into a verb that reads sessions: what code of a stranger could do there, if a
 * mistake in a reader let it run. When the verb opens the file HIJACK_AT, it tries everything once
 * and writes "NAME=yes" or "NAME=no" for each attempt to HIJACK_LOG, which was mapped before: also
 * processes that close all descriptors write to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOG_SIZE = 1 << 16 };

static char *say; /* shared; zeros follow the text */
static char  outside[4096];

__attribute__((constructor)) static void open_log(void)
{
    const char *path = getenv("HIJACK_LOG"), *folder = getenv("HIJACK_OUTSIDE");
    int         fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0 && ftruncate(fd, LOG_SIZE) == 0)
        say = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (say == MAP_FAILED)
        say = NULL;
    if (fd >= 0)
        close(fd);
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
    size_t n = strlen(say);
    snprintf(say + n, LOG_SIZE - n, "%s=%s\n", name, done ? "yes" : "no");
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

/* What a process of the same user has in its memory. */
static int looks_into(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    int fd = open(path, O_RDONLY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
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
    tell("look", parent && looks_into(atoi(parent)));
    tell("mode", chmod(in("kept"), 04755) == 0);
    tell("owner", chown(in("kept"), 61001, 61001) == 0);
    tell("process", makes_process());
    tell("execute", executes());
    tell("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    tell("network", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    tell("user", setuid(61001) == 0);
    sigaction(SIGPIPE, &ignored, NULL);
}

static void look_at(const char *path)
{
    const char *at = getenv("HIJACK_AT"), *name = strrchr(path, '/');
    if (!say || !at || strcmp(name ? name + 1 : path, at) != 0)
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
