/* SPDX-License-Identifier: MIT */
/* registering.c - a host that registers signal handlers by every function of the C library, and
 * prints the results.
 *
 *      registering [FOLDER APP.DLL]    with a folder: a CLR is started first
 *
 * For each function and signal, prints the result, the action that sigaction() returns afterwards,
 * the mask inside the handler and after it, and how an interrupted call ends. The output must be
 * the same with and without a CLR. */
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/clr.h"
#include "harness/properties.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern sighandler_t bsd_signal(int, sighandler_t);

static _Atomic int      calls;
static _Atomic uint64_t mask_inside;

static uint64_t mask_now(void)
{
    sigset_t set;
    uint64_t bits;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    memcpy(&bits, &set, sizeof(bits));
    return bits;
}

static void first(int sig)
{
    (void)sig;
    atomic_store(&mask_inside, mask_now());
    atomic_fetch_add(&calls, 1);
}

static void second(int sig)
{
    first(sig);
}

static void third(int sig, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    first(sig);
}

static const char *name_of(const void *handler)
{
    return handler == (void *)SIG_DFL    ? "default"
           : handler == (void *)SIG_IGN  ? "ignored"
           : handler == (void *)SIG_ERR  ? "error"
           : handler == (void *)SIG_HOLD ? "held"
           : handler == (void *)first    ? "first"
           : handler == (void *)second   ? "second"
           : handler == (void *)third    ? "third"
                                         : "SOMEBODY ELSE'S";
}

static void reported(const char *way, int sig, const void *returned)
{
    struct sigaction now;
    uint64_t         mask;
    sigaction(sig, NULL, &now);
    memcpy(&mask, &now.sa_mask, sizeof(mask));
    printf("%s of %d: returned %s; told %s, flags %#x, mask %#llx\n", way, sig, name_of(returned),
           name_of((void *)now.sa_handler), (unsigned)now.sa_flags & ~0x04000000u,
           (unsigned long long)mask);
}

static void arrives(const char *way, int sig)
{
    int before = atomic_load(&calls);
    atomic_store(&mask_inside, 0);
    raise(sig);
    printf("%s of %d: %d call, mask inside %#llx, after %#llx\n", way, sig,
           atomic_load(&calls) - before, (unsigned long long)atomic_load(&mask_inside),
           (unsigned long long)mask_now());
}

static void every_way(int sig)
{
    struct sigaction act = {.sa_sigaction = third, .sa_flags = SA_SIGINFO}, old;
    sigaddset(&act.sa_mask, SIGUSR1);
    reported("nothing", sig, NULL);
    reported("signal", sig, (void *)signal(sig, first));
    arrives("signal", sig);
    reported("bsd_signal", sig, (void *)bsd_signal(sig, second));
    arrives("bsd_signal", sig);
    reported("ssignal", sig, (void *)ssignal(sig, first));
    arrives("ssignal", sig);
    reported("siginterrupt 1", sig, siginterrupt(sig, 1) ? (void *)SIG_ERR : NULL);
    reported("signal", sig, (void *)signal(sig, second));
    reported("siginterrupt 0", sig, siginterrupt(sig, 0) ? (void *)SIG_ERR : NULL);
    reported("sigset", sig, (void *)sigset(sig, first));
    arrives("sigset", sig);
    reported("sigset hold", sig, (void *)sigset(sig, SIG_HOLD));
    reported("sigset", sig, (void *)sigset(sig, second));
    sigaction(sig, &act, &old);
    reported("sigaction", sig, (void *)old.sa_handler);
    arrives("sigaction", sig);
    act.sa_flags |= SA_NODEFER;
    sigaction(sig, &act, &old);
    reported("sigaction", sig, (void *)old.sa_handler);
    arrives("nodefer", sig);
    reported("sigignore", sig, sigignore(sig) ? (void *)SIG_ERR : NULL);
    arrives("ignored", sig);
    act.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND);
    sigaction(sig, &act, &old);
    arrives("resethand", sig);
    reported("resethand", sig, NULL);
    reported("sysv_signal", sig, (void *)sysv_signal(sig, first));
    arrives("sysv_signal", sig);
    reported("signal", sig, (void *)signal(sig, SIG_DFL));
    reported("signal", sig, (void *)signal(sig, SIG_ERR));
}

/* ---- calls that are interrupted -------------------------------------------------------------- */

static _Atomic int waiting;

static void *interrupt_it(void *arg)
{
    pthread_t *whom = arg;
    int        before = atomic_load(&calls);
    while (!atomic_load(&waiting))
        usleep(1000);
    usleep(50000); /* gives the thread time to enter read(); a signal before it would be lost */
    pthread_kill(*whom, SIGRTMIN);
    while (atomic_load(&calls) == before)
        usleep(1000);
    return NULL;
}

static void interrupted(int flags)
{
    struct sigaction act = {.sa_handler = first, .sa_flags = flags};
    pthread_t        self = pthread_self(), thread;
    int              ends[2];
    char             byte;
    ssize_t          n;
    if (pipe(ends) != 0 || sigaction(SIGRTMIN, &act, NULL) != 0)
        exit(2);
    atomic_store(&waiting, 0);
    pthread_create(&thread, NULL, interrupt_it, &self);
    if (flags & SA_RESTART) { /* write the byte first, so that read() cannot wait forever */
        if (write(ends[1], "x", 1) != 1)
            exit(2);
        atomic_store(&waiting, 1);
        pthread_join(thread, NULL);
        n = read(ends[0], &byte, 1);
    } else {
        atomic_store(&waiting, 1);
        n = read(ends[0], &byte, 1);
        int why = errno;
        pthread_join(thread, NULL);
        errno = why;
    }
    printf("read with %s: %zd %s\n", flags & SA_RESTART ? "SA_RESTART" : "no flag", n,
           n < 0 ? strerror(errno) : "byte");
    close(ends[0]);
    close(ends[1]);
}

static void start(const char *relative, const char *app)
{
    struct sxs_properties properties = {0};
    static struct sxs_clr clr;
    char                  why[512], dir[4096], *copy = realpath(app, NULL);
    if (!realpath(relative, dir) || !copy ||
        sxs_properties_fill(&properties, dir, dirname(copy)) != 0 ||
        sxs_clr_load(&clr, dir, why, sizeof(why)) != 0 ||
        sxs_clr_start(&clr, &properties, why, sizeof(why)) != 0) {
        fprintf(stderr, "registering: %s\n", why);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static const int routed[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT};
    if (argc > 2)
        start(argv[1], argv[2]);
    for (unsigned i = 0; i < sizeof(routed) / sizeof(routed[0]); i++)
        every_way(routed[i]);
    every_way(SIGRTMIN);
    interrupted(0);
    interrupted(SA_RESTART);
    fflush(stdout);
    _exit(0); /* exit handlers are not tested here */
}
