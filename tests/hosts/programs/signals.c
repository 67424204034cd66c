/* SPDX-License-Identifier: MIT */
/* signals - a host with its own signal handler, which receives signals from every kind of sender.
 *
 * signals SIGNAL WHEN: SIGNAL is rtmin, prof or urg; the handler is installed before, between
 * (after the first) or after the start of the runtimes. It is installed with SA_SIGINFO |
 * SA_RESTART, and with SIGUSR2 in its mask. It passes signals that the host did not send to the
 * earlier handler, as a well-behaved host does: for rtmin, those that a runtime sends by
 * pthread_kill.
 *
 * signals blocked WHEN: the main thread blocks SIGPROF, SIGSTKFLT, SIGURG and SIGWINCH, which
 * profilers send, before or after the runtimes start. They must stay blocked, whatever the runtimes do on that
 * thread. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { EACH = 50, PATIENCE = 10000 };

static struct sigaction earlier;
static int              own;
static atomic_int       n_kill, n_queue, n_timer, n_child, n_kernel, n_unmasked;
static pid_t            child;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    sigset_t now;

    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (sigismember(&now, SIGUSR2) != 1 || sigismember(&now, sig) != 1)
        atomic_fetch_add(&n_unmasked, 1);
    if (info->si_code == SI_QUEUE && info->si_value.sival_int == 42)
        atomic_fetch_add(&n_queue, 1);
    else if (info->si_code == SI_TIMER && info->si_value.sival_int == 43)
        atomic_fetch_add(&n_timer, 1);
    else if (info->si_code == SI_USER && info->si_pid == child)
        atomic_fetch_add(&n_child, 1);
    else if (info->si_code == SI_USER && info->si_pid == getpid())
        atomic_fetch_add(&n_kill, 1);
    else if (info->si_code == SI_KERNEL && sig == SIGPROF)
        atomic_fetch_add(&n_kernel, 1);
    else if (earlier.sa_flags & SA_SIGINFO)
        earlier.sa_sigaction(sig, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(own, &action, &earlier);
}

/* Waits until @counter has the value @wanted, for 10 s at most: only a lost signal takes so long.
 * Returns the value of the counter. */
static int reaches(atomic_int *counter, int wanted)
{
    for (int i = 0; i < PATIENCE && atomic_load(counter) < wanted; i++)
        usleep(1000);
    return atomic_load(counter);
}

/* Waits for each signal before it sends the next one, because a signal below SIGRTMIN can be
 * pending only once. Returns the number of signals that arrived. */
static int send_all(void (*send)(void), atomic_int *counter)
{
    int before = atomic_load(counter);

    for (int i = 1; i <= EACH; i++) {
        send();
        if (reaches(counter, before + i) < before + i)
            break;
    }
    return atomic_load(counter) - before;
}

static void send_kill(void)
{
    kill(getpid(), own);
}

static void send_queue(void)
{
    sigqueue(getpid(), own, (union sigval){.sival_int = 42});
}

static void send_timer(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = own, .sigev_value.sival_int = 43};
    struct itimerspec once = {.it_value.tv_nsec = 100000};
    int               before = atomic_load(&n_timer);
    timer_t           timer;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer))
        return;
    timer_settime(timer, 0, &once, NULL);
    reaches(&n_timer, before + 1);
    timer_delete(timer);
}

/* A single child sends all signals, so that its process number is known before it sends the
 * first. */
static int send_from_child(void)
{
    int  go[2], before = atomic_load(&n_child);
    char byte;

    if (pipe(go))
        return -1;
    child = fork();
    if (!child) {
        for (int i = 0; i < EACH && read(go[0], &byte, 1) == 1; i++)
            kill(getppid(), own);
        _exit(0);
    }
    for (int i = 1; i <= EACH; i++) {
        if (write(go[1], "x", 1) != 1 || reaches(&n_child, before + i) < before + i)
            break;
    }
    close(go[0]);
    close(go[1]);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0)
        continue;
    return atomic_load(&n_child) - before;
}

/* Does work while SIGPROF ticks; returns the number of wrong results. A runtime alone does not
 * survive a tick while it handles a NullReferenceException: its alternate stack has no room for a
 * second frame (docs/internals/hosts.md). The profiler keeps the two apart, so that faults are
 * raised only where it is. */
static int work_while_ticking(void)
{
    const char *profiled = getenv("CORECLR_ENABLE_PROFILING");
    int         wrong = 0;

    if (profiled && !strcmp(profiled, "1"))
        return hosting_work(2);
    for (int k = 0; k < hosting_len(); k++)
        wrong += hosting_guest(k)->collect(3) != 3;
    return wrong;
}

/* Runs ITIMER_PROF, the timer of profilers, while the runtimes work. */
static void profile_itself(void)
{
    struct itimerval on = {.it_interval.tv_usec = 2000, .it_value.tv_usec = 2000}, off = {0};

    setitimer(ITIMER_PROF, &on, NULL);
    hosting_claim(work_while_ticking() == 0, "work while SIGPROF ticks");
    for (int i = 0; i < 100000 && atomic_load(&n_kernel) < 5; i++)
        for (int k = 0; k < hosting_len(); k++)
            hosting_guest(k)->compute(20000);
    setitimer(ITIMER_PROF, &off, NULL);
    hosting_claim(atomic_load(&n_kernel) >= 5, "SIGPROF ticks arrive");
}

/* Returns false as soon as a signal is lost, because further ones would be lost, too. */
static bool send_everything(const char *when)
{
    int n = send_all(send_kill, &n_kill);

    if (!hosting_claim(n == EACH, "%s: %d of %d by kill", when, n, EACH))
        return false;
    n = send_all(send_queue, &n_queue);
    if (!hosting_claim(n == EACH, "%s: %d of %d by sigqueue", when, n, EACH))
        return false;
    n = send_all(send_timer, &n_timer);
    if (!hosting_claim(n == EACH, "%s: %d of %d by a timer", when, n, EACH))
        return false;
    n = send_from_child();
    return hosting_claim(n == EACH, "%s: %d of %d from a child", when, n, EACH);
}

static void stay_blocked(const char *when)
{
    static const int of_profilers[] = {SIGPROF, SIGSTKFLT, SIGURG, SIGWINCH};
    enum { N = sizeof(of_profilers) / sizeof(of_profilers[0]) };
    sigset_t block, now;
    int      n = 0;

    sigemptyset(&block);
    for (int i = 0; i < N; i++)
        sigaddset(&block, of_profilers[i]);
    if (!strcmp(when, "after"))
        hosting_start();
    hosting_claim(hosting_work(1) == 0 || !strcmp(when, "before"), "work while nothing is blocked");
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    hosting_start();
    hosting_claim(hosting_work(2) == 0, "work while signals are blocked");
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int i = 0; i < N; i++)
        n += sigismember(&now, of_profilers[i]) == 1;
    hosting_claim(n == N, "%d of %d signals have stayed blocked", n, N);
}

int main(int argc, char **argv)
{
    const char *name = argc > 2 ? argv[1] : "rtmin", *when = argc > 2 ? argv[2] : "after";

    if (!strcmp(name, "blocked")) {
        stay_blocked(when);
        return hosting_end();
    }
    own = !strcmp(name, "rtmin") ? SIGRTMIN : !strcmp(name, "prof") ? SIGPROF : SIGURG;
    if (!strcmp(when, "before")) {
        install();
        send_everything("before the runtimes");
    }
    hosting_start_one(0);
    if (!strcmp(when, "between"))
        install();
    hosting_start();
    if (!strcmp(when, "after"))
        install();
    hosting_claim(hosting_work(1) == 0, "work");
    send_everything("with the runtimes");
    hosting_claim(hosting_work(1) == 0, "more work");
    if (own == SIGPROF)
        profile_itself();
    hosting_claim(atomic_load(&n_unmasked) == 0, "the handler's mask is in force");
    return hosting_end();
}
