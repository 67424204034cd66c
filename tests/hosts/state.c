/* SPDX-License-Identifier: MIT */
/** state.c - prints the state of the process (signals, descriptors, limits, ...) in lines "state
 * KIND ...". tests/hosts/compare.py compares them with those of the same host without the
 * library. */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the name of the file that contains @address, without its folder; "unknown" for none. */
static const char *module_of(const void *address)
{
    Dl_info info;

    if (!dladdr(address, &info) || !info.dli_fname)
        return "unknown";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static const char *handler_of(const struct sigaction *action)
{
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL)
        return "default";
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN)
        return "ignored";
    return module_of((const void *)action->sa_sigaction);
}

static void mask_text(const sigset_t *set, char *out)
{
    unsigned long long bits = 0;

    for (int sig = 1; sig <= 64; sig++)
        if (sigismember(set, sig) == 1)
            bits |= 1ULL << (sig - 1);
    sprintf(out, "%016llx", bits);
}

/* Prints "state signal NUMBER HANDLER FLAGS MASK" for each signal whose action is not the
 * default. */
static void show_signals(void)
{
    char mask[20];

    for (int sig = 1; sig <= 64; sig++) {
        struct sigaction action;
        if (sigaction(sig, NULL, &action))
            continue; /* 32 and 33 are reserved by the C library */
        const char *handler = handler_of(&action);
        if (!strcmp(handler, "default"))
            continue;
        mask_text(&action.sa_mask, mask);
        hosting_say("state signal %d %s %x %s", sig, handler,
                    (unsigned)action.sa_flags & ~0x04000000U /* SA_RESTORER */, mask);
    }
}

/* Prints "state mask BITS" and "state altstack none|there" for this thread. */
static void show_thread(void)
{
    sigset_t set;
    stack_t  stack;
    char     mask[20];

    pthread_sigmask(SIG_BLOCK, NULL, &set);
    mask_text(&set, mask);
    hosting_say("state mask %s", mask);
    sigaltstack(NULL, &stack);
    hosting_say("state altstack %s", stack.ss_flags & SS_DISABLE ? "none" : "there");
}

/* Reads where descriptor `fd` leads. Returns false when it is not open. */
static bool descriptor_target(int fd, char *target, size_t size)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(path, target, size - 1);
    target[len < 0 ? 0 : len] = '\0';
    return len >= 0;
}

/* Returns true for a file of /proc that another thread opened only to read it: it is closed, or
 * another file has its number, a moment later. */
static bool is_closed_soon(int fd, const char *target)
{
    char later[512];

    if (strncmp(target, "/proc/", 6) != 0)
        return false;
    for (int i = 0; i < 20; i++) {
        usleep(10000);
        if (!descriptor_target(fd, later, sizeof(later)) || strcmp(later, target) != 0)
            return true;
    }
    return false;
}

/* Prints "state fd NUMBER TARGET" for each open descriptor. */
static void show_descriptors(void)
{
    int last = (int)sysconf(_SC_OPEN_MAX);

    for (int fd = 0; fd < last && fd < 4096; fd++) {
        char target[512];
        if (descriptor_target(fd, target, sizeof(target)) && !is_closed_soon(fd, target))
            hosting_say("state fd %d %s", fd, target);
    }
}

static void show_limits(void)
{
    static const int resources[] = {RLIMIT_AS,         RLIMIT_CORE,   RLIMIT_DATA,
                                    RLIMIT_FSIZE,      RLIMIT_NOFILE, RLIMIT_STACK,
                                    RLIMIT_SIGPENDING, RLIMIT_NPROC,  RLIMIT_MEMLOCK};

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        struct rlimit limit;
        if (!getrlimit((unsigned)resources[i], &limit))
            hosting_say("state limit %d %llx %llx", resources[i],
                        (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    }
}

static void show_timers(void)
{
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        struct itimerval timer;
        if (!getitimer((__itimer_which_t)which, &timer))
            hosting_say("state timer %d %s", which,
                        timer.it_interval.tv_sec || timer.it_interval.tv_usec ? "armed" : "off");
    }
}

void hosting_state(void)
{
    char   cwd[512];
    mode_t mask = umask(0);

    umask(mask);
    show_signals();
    show_thread();
    show_descriptors();
    show_limits();
    show_timers();
    hosting_say("state umask %o", mask);
    hosting_say("state cwd %s", getcwd(cwd, sizeof(cwd)) ? cwd : "none");
    hosting_say("state locale %s", setlocale(LC_ALL, NULL));
    hosting_say("state rounding %d %x", fegetround(), __builtin_ia32_stmxcsr() & 0xffc0U);
    hosting_say("state ids %d %d", (int)getuid(), (int)geteuid());
    errno = 0;
    hosting_say("state children %s",
                waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "none" : "some");
}
