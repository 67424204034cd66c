/* SPDX-License-Identifier: MIT */
/*
 * churn_children.c - starts children in every way: fork, vfork and posix_spawn. A child must have
 * its parent's signal state, must be able to allocate and (with loader=1) to load a library, and
 * must never be killed by a signal that was sent for a thread of its parent.
 */
#include "harness/bridge/churn.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    HUNG_AFTER = 20,      /* seconds until a child is killed by its own alarm */
    CHILD_BLOCKS = 3,     /* exit statuses of children: a profiler's signal is blocked; */
    CHILD_HAS_EVENTS = 5, /* perf events are inherited */
    QUIET_MS = 300,       /* no library was loaded for so long: the runtimes have started */
};

static int count_object(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)info;
    (void)size;
    ++*(int *)n;
    return 0;
}

struct others {
    const char *but;
    int         n;
};

static int count_other(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct others *others = arg;
    (void)size;
    others->n += strcmp(info->dlpi_name, others->but) != 0;
    return 0;
}

/* Waits until no library except the plugin has been loaded for QUIET_MS. Runtimes load libraries
 * while they start, without taking churn_loading; in a child forked during such a load the state of
 * the loader is inconsistent. Measured with one runtime, without the profiler (8.0.29, 9.0.18,
 * 10.0.11): of the children forked after this wait, 1,310 called exit(), and all 1,310 ended. */
static void wait_for_starts(const struct churn *c)
{
    int before = -1, same_for = 0;
    while (same_for < QUIET_MS / 10 && !atomic_load(&c->stop)) {
        struct others others = {c->plugin, 0};
        dl_iterate_phdr(count_other, &others);
        same_for = others.n == before ? same_for + 1 : 0;
        before = others.n;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

/* Counts perf event descriptors that the child has inherited from a profiler in its parent. */
static int inherited_events(void)
{
    char path[32], target[64];
    int  n = 0;
    for (int fd = 3; fd < 1024; fd++) {
        ssize_t len;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        len = readlink(path, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        n += strstr(target, "perf_event") != NULL;
    }
    return n;
}

/* Called in the child: uses functions whose locks may have been held during the fork. Returns the
 * child's exit status. */
static int use_everything(const struct churn *c)
{
    int      objects = 0;
    sigset_t mask;
    void    *p = malloc(100000), *loaded;
    free(p);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (!p || sigismember(&mask, SIGPROF) || sigismember(&mask, SIGURG))
        return CHILD_BLOCKS;
    if (inherited_events())
        return CHILD_HAS_EVENTS;
    if (!c->loader)
        return 0;
    dl_iterate_phdr(count_object, &objects);
    loaded = dlopen(c->plugin, RTLD_NOW | RTLD_LOCAL);
    return !objects || !loaded || dlclose(loaded);
}

static void reap_child(struct churn *c, pid_t child, const char *what)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) {
            churn_failed(c, "waitpid");
            return;
        }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        churn_failed(c, "a child that hung");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        churn_failed(c, "a child killed by SIGPROF"); /* the usual signal of samplers */
    else if (WIFSIGNALED(status))
        churn_failed(c, "a child killed by another signal");
    else if (WEXITSTATUS(status) == CHILD_BLOCKS)
        churn_failed(c, "a child with blocked signals");
    else if (WEXITSTATUS(status) == CHILD_HAS_EVENTS)
        churn_failed(c, "a child with perf events");
    else if (status)
        churn_failed(c, what);
}

static void fork_only(struct churn *c, unsigned long n)
{
    pid_t child;
    if (c->loader)
        pthread_mutex_lock(&churn_loading);
    child = fork();
    if (child == 0) {
        int status;
        alarm(HUNG_AFTER);
        status = n % 2 ? use_everything(c) : 0;
        if (c->exits && n % 4 < 2)
            exit(status);
        _exit(status);
    }
    if (c->loader)
        pthread_mutex_unlock(&churn_loading);
    if (child > 0)
        reap_child(c, child, "a forked child");
    else
        churn_failed(c, "fork");
    atomic_fetch_add(&c->n_forks, 1);
}

/* A shell script that checks the inherited signal state: the signals of samplers (SIGURG, SIGPROF)
 * must be neither blocked nor ignored. */
static char *check[] = {"sh", "-c",
                        "while read -r name value; do case $name in SigBlk:|SigIgn:) "
                        "[ $((0x${value#????????} & 0x4400000)) = 0 ] || exit 4;; esac; done "
                        "</proc/self/status",
                        NULL};
static char *nothing[] = {"true", NULL};

static void fork_and_exec(struct churn *c, unsigned long n)
{
    pid_t child;
    if (n % 2)
        child = fork();
    else
        child = vfork();
    if (child == 0) {
        execv(n % 4 ? "/bin/true" : "/bin/sh", n % 4 ? nothing : check);
        _exit(127);
    }
    if (child > 0)
        reap_child(c, child, "an executed child");
    else
        churn_failed(c, "fork");
    atomic_fetch_add(&c->n_execs, 1);
}

static void spawn_children(struct churn *c, unsigned long n)
{
    pid_t child;
    if (posix_spawn(&child, n % 4 ? "/bin/true" : "/bin/sh", NULL, NULL, n % 4 ? nothing : check,
                    environ) == 0)
        reap_child(c, child, "a spawned child");
    else
        churn_failed(c, "posix_spawn");
    atomic_fetch_add(&c->n_spawns, 1);
}

void *churn_children(void *arg)
{
    struct churn *c = arg;
    unsigned long n = 0;
    if (c->loader || c->exits)
        wait_for_starts(c);
    while (!atomic_load(&c->stop)) {
        unsigned all = c->forks + c->execs + c->spawns, turn = (unsigned)(n * 7919 % all);
        if (turn < c->forks)
            fork_only(c, atomic_load(&c->n_forks));
        else if (turn < c->forks + c->execs)
            fork_and_exec(c, atomic_load(&c->n_execs));
        else
            spawn_children(c, atomic_load(&c->n_spawns));
        n++;
        nanosleep(&(struct timespec){0, 999999999L / all}, NULL);
    }
    return NULL;
}
