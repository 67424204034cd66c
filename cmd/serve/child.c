/* SPDX-License-Identifier: MIT */
#include "cmd/serve/child.h"

#include "cmd/serve/content.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_CPU_S = 120, MAX_OUTPUT = 1 << 30 };

/* The first descriptors of the child. */
enum { ROOT_FD = 3, SOURCE_FD, TELL_FD, FIRST_CLOSED, AWAY = 64 };

static void set_limit(int which, rlim_t most)
{
    struct rlimit limit = {most, most};
    setrlimit(which, &limit);
}

static void set_limits(void)
{
    set_limit(RLIMIT_CPU, MAX_CPU_S);
    set_limit(RLIMIT_FSIZE, MAX_OUTPUT);
    set_limit(RLIMIT_CORE, 0);
#ifndef SXS_SANITIZED /* a sanitizer reserves address space without end */
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) /* half of the memory */
        set_limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)page / 2);
#endif
}

/* Moves the descriptors to the numbers above, and closes all others. Returns false when that
 * fails. */
static bool place_descriptors(const struct sxs_serve_child *c)
{
    const int from[] = {open("/dev/null", O_RDWR | O_CLOEXEC),
                        c->out_fd,
                        c->err_fd,
                        c->o->root_fd,
                        c->source_fd,
                        c->tell_fd};
    int       away[FIRST_CLOSED];
    for (int i = 0; i < FIRST_CLOSED; i++)
        if ((away[i] = fcntl(from[i], F_DUPFD_CLOEXEC, AWAY)) < 0)
            return false;
    for (int i = 0; i < FIRST_CLOSED; i++)
        if (dup2(away[i], i) < 0)
            return false;
    return close_range(FIRST_CLOSED, ~0U, 0) == 0;
}

static _Noreturn void work(const struct sxs_serve_child *c, pid_t parent)
{
    sigset_t                 none;
    struct sxs_serve_options o = *c->o;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (getppid() != parent || !place_descriptors(c))
        _exit(1);
    set_limits();
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    o.root_fd = ROOT_FD;
    sxs_serve_make(&o, c->wanted, SOURCE_FD, TELL_FD);
}

pid_t sxs_serve_child_start(const struct sxs_serve_child *c)
{
    pid_t parent = getpid();
    fflush(NULL); /* the child must not write what this process has not written yet */
    pid_t child = fork();
    if (child == 0)
        work(c, parent);
    return child;
}
