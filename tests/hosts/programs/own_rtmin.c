/* SPDX-License-Identifier: MIT */
/* own_rtmin.c - a host that has a handler for SIGRTMIN and sends the signal in every way, beside
 * one or two CLRs.
 *
 *      own_rtmin WHEN APP.DLL FOLDER...    WHEN: before, between or after the start of the CLRs
 *
 * APP runs in every CLR and collects garbage while the signals are sent. Prints which signals were
 * lost, and the handler that sigaction() returns. Status 0 if all signals arrive as without a
 * CLR. */
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/clr.h"
#include "harness/properties.h"

#define MAX_CLRS 4
#define EACH     50
#define BURST    20 /* signals that are sent at once */

enum { BY_KILL, BY_QUEUE, BY_TIMER, BY_CHILD, BY_THREAD, N_KINDS };
static const char *const kinds[N_KINDS] = {"kill", "sigqueue", "timer", "child", "pthread_kill"};

static struct sxs_clr clrs[MAX_CLRS];
static int            n_clrs;
static char           app[4096];
static pthread_t      receiver;
static _Atomic int    arrived, wrong_mask, wrong_value, ending;
static int            expected_value;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    sigset_t now;
    (void)sig;
    (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (!sigismember(&now, SIGUSR1) || !sigismember(&now, SIGRTMIN) || sigismember(&now, SIGUSR2) ||
        sigismember(&now, SIGTERM))
        atomic_fetch_add(&wrong_mask, 1);
    if (info->si_code == SI_QUEUE && info->si_value.sival_int != expected_value)
        atomic_fetch_add(&wrong_value, 1);
    atomic_fetch_add(&arrived, 1);
}

static void install(void)
{
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaddset(&act.sa_mask, SIGUSR1);
    if (sigaction(SIGRTMIN, &act, NULL) != 0)
        exit(2);
}

/* Signals to the process arrive on this thread, or on one of a CLR that does not block them. */
static void *receive(void *arg)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGRTMIN);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    while (!atomic_load(&ending))
        usleep(1000);
    return arg;
}

static void send_one(int kind)
{
    union sigval      value = {.sival_int = expected_value};
    struct sigevent   event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec soon = {.it_value = {0, 1000}};
    timer_t           timer;
    pid_t             pid, parent = getpid();
    int               before = atomic_load(&arrived);
    switch (kind) {
    case BY_KILL: kill(parent, SIGRTMIN); break;
    case BY_QUEUE: sigqueue(parent, SIGRTMIN, value); break;
    case BY_THREAD: pthread_kill(receiver, SIGRTMIN); break;
    case BY_TIMER:
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
            timer_settime(timer, 0, &soon, NULL) != 0)
            exit(2);
        break;
    default:
        pid = fork();
        if (pid == 0)
            _exit(kill(parent, SIGRTMIN) != 0);
        waitpid(pid, NULL, 0);
    }
    for (int ms = 0; ms < 2000 && atomic_load(&arrived) == before; ms++)
        usleep(1000); /* one signal at a time; send_all() notices a lost one */
    if (kind == BY_TIMER)
        timer_delete(timer);
}

/* Sends signals faster than one thread handles them, so the kernel gives them to every thread that
 * does not block them. Returns 1 if some are lost. */
static int send_bursts(const char *when)
{
    union sigval value = {.sival_int = expected_value};
    int          before = atomic_load(&arrived), expected = EACH * BURST;
    for (int i = 0; i < EACH; i++) {
        for (int n = 0; n < BURST; n++)
            sigqueue(getpid(), SIGRTMIN, value);
        for (int ms = 0; ms < 2000 && atomic_load(&arrived) - before < (i + 1) * BURST; ms++)
            usleep(1000);
    }
    if (atomic_load(&arrived) - before == expected)
        return 0;
    printf("%s: %d of %d in bursts arrived\n", when, atomic_load(&arrived) - before, expected);
    return 1;
}

static int send_all(const char *when)
{
    int bad = 0;
    for (int kind = 0; kind < N_KINDS; kind++) {
        int before = atomic_load(&arrived);
        for (int i = 0; i < EACH; i++) {
            send_one(kind);
            if (atomic_load(&arrived) == before + i)
                break; /* it is lost; do not wait for more */
        }
        if (atomic_load(&arrived) - before != EACH) {
            printf("%s: %s lost after %d\n", when, kinds[kind], atomic_load(&arrived) - before);
            bad = 1;
        }
    }
    return send_bursts(when) || bad;
}

static void start(const char *relative)
{
    char                  dir[4096];
    struct sxs_properties properties = {0};
    char                  why[512], *copy = strdup(app);
    if (!realpath(relative, dir))
        exit(2);
    if (!copy || sxs_properties_fill(&properties, dir, dirname(copy)) != 0 ||
        sxs_clr_load(&clrs[n_clrs], dir, why, sizeof(why)) != 0 ||
        sxs_clr_start(&clrs[n_clrs], &properties, why, sizeof(why)) != 0) {
        fprintf(stderr, "own_rtmin: %s\n", why);
        exit(2);
    }
    n_clrs++;
    free(copy);
    sxs_properties_free(&properties);
}

static void *run(void *arg)
{
    const char *argv[] = {"nre=20", "div=20", "gcs=40", "loops=1", "pool=20"};
    char        why[512];
    int         status = -1;
    if (sxs_clr_execute(arg, app, 5, argv, &status, why, sizeof(why)) != 0 || status != 0)
        return "failed";
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction now;
    sigset_t         own, before;
    pthread_t        threads[MAX_CLRS];
    void            *result;
    int              bad = 0, between = 0, n;
    if (argc < 4 || argc - 3 > MAX_CLRS)
        return 2;
    if (!realpath(argv[2], app))
        return 2;
    expected_value = 4711;
    if (strcmp(argv[1], "before") == 0)
        install();
    for (int i = 3; i < argc; i++) {
        start(argv[i]);
        if (!between++ && strcmp(argv[1], "between") == 0)
            install();
    }
    if (strcmp(argv[1], "after") == 0)
        install();
    n = n_clrs;
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run, &clrs[i]) != 0)
            return 2;
    sigemptyset(&own);
    sigaddset(&own, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &own, &before);
    if (pthread_create(&receiver, NULL, receive, NULL) != 0)
        return 2;
    bad |= send_all("while apps run");
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], &result);
        bad |= result != NULL;
    }
    bad |= send_all("when they have ended");
    atomic_store(&ending, 1);
    pthread_join(receiver, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (wrong_mask || wrong_value) {
        printf("%d with a wrong mask, %d with a wrong value\n", wrong_mask, wrong_value);
        bad = 1;
    }
    sigaction(SIGRTMIN, NULL, &now);
    printf("sigaction tells of %s handler\n",
           now.sa_sigaction == on_signal ? "its own" : "another");
    printf("%s\n", bad ? "not all right" : "all right");
    return bad;
}
