/* SPDX-License-Identifier: MIT */
#include "cmd/confined/confined.h"

#include "base/clock.h"
#include "cmd/confined/calls.h"
#include "cmd/confined/descriptors.h"
#include "cmd/confined/writes.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, END_MS = 100 };

/* ---- what a process gives up ---- */

/* Sets a limit, and the most that the process can set it to. Neither is higher than before. */
static void set_limit_up_to(int which, rlim_t now, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0)
        return;
    if (limit.rlim_cur > now)
        limit.rlim_cur = now;
    if (limit.rlim_max > most)
        limit.rlim_max = most;
    setrlimit(which, &limit);
}

static void set_limit(int which, rlim_t most)
{
    set_limit_up_to(which, most, most);
}

#ifndef SXS_SANITIZED
/* Returns the size of the address space in bytes. */
static uint64_t address_space(void)
{
    char    text[64] = "";
    int     fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
#endif

/* Returns true when the process makes only the calls that its filter lists. */
static bool is_listed(enum sxs_confined_calls calls)
{
    return calls == SXS_CONFINED_PARSE || calls == SXS_CONFINED_LOOK || calls == SXS_CONFINED_READ;
}

static void set_limits(const struct sxs_confinement *c)
{
    set_limit(RLIMIT_CORE, 0);
#ifndef SXS_SANITIZED /* a sanitizer reserves address space without end */
    uint64_t now = c->memory ? address_space() : 0;
    if (now)
        set_limit(RLIMIT_AS, (rlim_t)(now + c->memory));
    if (c->data)
        set_limit(RLIMIT_DATA, (rlim_t)c->data);
#endif
    if (c->file_size)
        set_limit(RLIMIT_FSIZE, (rlim_t)c->file_size);
    if (c->cpu_s)
        set_limit_up_to(RLIMIT_CPU, c->cpu_s, c->cpu_s + 1); /* SIGXCPU first, which says why */
    if (c->descriptors)
        set_limit(RLIMIT_NOFILE, c->descriptors);
    if (is_listed(c->calls))
        set_limit(RLIMIT_NPROC, 0); /* no new processes, also where the kernel has no filter */
}

/* No program that is executed later can have more than @kept. */
static void drop_bounds(uint64_t kept)
{
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned cap = 0; cap < 64; cap++)
        if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno == EINVAL)
            break; /* after the last that the kernel knows */
}

/* Becomes nobody. In a user namespace that has no such user, it stays root. */
static void drop_root(bool keep)
{
    if (geteuid() != 0 && getuid() != 0)
        return;
    prctl(PR_SET_KEEPCAPS, keep, 0, 0, 0);
    if (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0)
        (void)!setresuid(NOBODY, NOBODY, NOBODY);
}

int sxs_confined_keep_capabilities(uint64_t kept)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct   set[2] = {{0}};
    if (syscall(SYS_capget, &header, set) != 0)
        return errno;
    for (unsigned i = 0; i < 2; i++) {
        set[i].permitted &= (uint32_t)(kept >> (32 * i));
        set[i].effective = set[i].permitted;
        set[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, set) == 0 ? 0 : errno;
}

bool sxs_confine_self(const struct sxs_confinement *c)
{
    set_limits(c);
    if (c->capabilities != SXS_CONFINED_KEEP_ALL)
        drop_bounds(c->capabilities);
    if (c->drop_root)
        drop_root(c->capabilities != 0);
    if (c->capabilities != SXS_CONFINED_KEEP_ALL || c->drop_root)
        (void)sxs_confined_keep_capabilities(c->capabilities);
    bool fixed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (c->drop_root) /* the change of the user has ended it, and the filter refuses it */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (is_listed(c->calls))
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* processes of the same user cannot look into it */
    if (c->calls == SXS_CONFINED_PARSE)
        sxs_confine_writes(NULL, 0);
    return fixed && c->calls != SXS_CONFINED_ANY && sxs_confined_filter(c->calls) == 0;
}

/* ---- children ---- */

static uint64_t now_ms(void)
{
    return sxs_now_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Closes all descriptors but the standard ones, those to keep, and @out. */
static void close_others(const struct sxs_confinement *c, int out)
{
    int    keep[SXS_CONFINED_MAX_KEEP + 1];
    size_t n = 0;
    for (; n < c->n_keep && n < SXS_CONFINED_MAX_KEEP; n++)
        keep[n] = c->keep[n];
    keep[n++] = out;
    sxs_confined_close_others(keep, n);
}

static void reset_signals(void)
{
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM,  SIGUSR1,
                                  SIGUSR2, SIGCHLD, SIGSEGV, SIGBUS,  SIGXCPU, SIGWINCH, SIGABRT};
    sigset_t         none;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        signal(numbers[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Returns 0 in the child, its PID in the parent, or -1 with errno. */
static pid_t start(const struct sxs_confinement *c, int out)
{
    pid_t parent = getpid();
    fflush(NULL); /* the child must not write what this process has not written yet */
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    reset_signals();
    if (c->keep)
        close_others(c, out);
    sxs_confine_self(c);
    if (getppid() != parent) /* it ended while a change of the user had taken the signal back */
        _exit(1);
    return 0;
}

int sxs_confined_start(const struct sxs_confinement *c, int (*work)(void *arg), void *arg)
{
    pid_t child = start(c, -1);
    if (child == 0)
        _exit(work(arg) & 0xff);
    return child;
}

/* Waits for the end of a child until @end. Returns false when it has not ended by then. */
static bool wait_until(pid_t child, uint64_t end, int *status)
{
    struct timespec pause = {.tv_nsec = 100000};
    for (;;) {
        pid_t done = waitpid(child, status, WNOHANG);
        if (done == child)
            return true;
        if ((done < 0 && errno != EINTR) || now_ms() >= end)
            return false;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 5000000)
            pause.tv_nsec *= 2;
    }
}

void sxs_confined_end(int pid)
{
    int status;
    kill(pid, SIGKILL);
    wait_until(pid, now_ms() + END_MS, &status);
}

/* Reads all that comes until the writer closes or @end. Returns 0, EOVERFLOW, ETIMEDOUT or another errno
 * value. */
static int collect(int from, uint64_t end, char *out, size_t size, size_t *len)
{
    for (;;) {
        struct pollfd p = {.fd = from, .events = POLLIN};
        char          more;
        uint64_t      now = now_ms();
        if (now >= end)
            return ETIMEDOUT;
        if (poll(&p, 1, end - now < 1000 ? (int)(end - now) : 1000) <= 0)
            continue;
        ssize_t n = *len < size ? read(from, out + *len, size - *len) : read(from, &more, 1);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        if (n > 0 && *len == size)
            return EOVERFLOW;
        *len += n > 0 ? (size_t)n : 0;
    }
}

static int result_of(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return number == SIGXCPU   ? ETIMEDOUT
           : number == SIGKILL ? ENOMEM /* of the system's memory, or of a group's */
           : number == SIGXFSZ ? EFBIG
                               : EBADMSG;
}

int sxs_confined_run(const struct sxs_confinement *c, int (*work)(void *arg, int out_fd), void *arg,
                     void *out, size_t size, size_t *len)
{
    int      io[2], status = 0;
    uint64_t end = c->wall_ms ? now_ms() + c->wall_ms : UINT64_MAX;
    *len = 0;
    if (pipe2(io, O_CLOEXEC) != 0)
        return errno;
    pid_t child = start(c, io[1]);
    if (child == 0) {
        close(io[0]);
        _exit(work(arg, io[1]) & 0xff);
    }
    int err = child < 0 ? errno : 0;
    close(io[1]);
    if (!err)
        err = collect(io[0], end, out, size, len);
    close(io[0]);
    if (child > 0 && (err || !wait_until(child, end, &status))) {
        sxs_confined_end(child);
        return err ? err : ETIMEDOUT;
    }
    return err ? err : result_of(status);
}
