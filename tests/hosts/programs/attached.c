/* SPDX-License-Identifier: MIT */
/* attached - a host that another tool attaches to while it works.
 *
 * attached gdb|strace|dotnet-trace: two threads work while the tool is attached.
 * The threads pause while strace detaches, because a signal to a thread may be lost then. If that
 * signal is a runtime's SIGRTMIN, which stops a thread, the runtime waits for that thread forever,
 * with the library or without it. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { THREADS = 2, ROUNDS = 100 };

static atomic_bool stop, rest;
static atomic_int  n_wrong_work, n_resting, n_rounds;

static void *work_on(void *argument)
{
    const struct hosting_guest *guest = argument;

    while (!atomic_load(&stop)) {
        if (guest->faults(3) != 3 || guest->compute(1000) != 499500 || guest->collect(1) != 1)
            atomic_fetch_add(&n_wrong_work, 1);
        atomic_fetch_add(&n_rounds, 1);
        if (atomic_load(&rest)) {
            atomic_fetch_add(&n_resting, 1);
            while (atomic_load(&rest))
                usleep(1000);
        }
    }
    return NULL;
}

static void run_tool(const char *tool)
{
    char pid[16], path[1024];
    int  log = open("tool.log", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    snprintf(pid, sizeof(pid), "%d", (int)getppid());
    hosting_env_clean();
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (!strcmp(tool, "gdb"))
        execlp("gdb", "gdb", "-q", "-batch", "-p", pid, "-ex", "thread apply all bt 3", "-ex",
               "detach", NULL);
    if (!strcmp(tool, "strace"))
        execlp("strace", "strace", "-f", "-o", "/dev/null", "-p", pid, NULL);
    snprintf(path, sizeof(path), "%s/tools/dotnet-trace", hosting_env("HOSTS_BUILD"));
    execl(path, path, "collect", "-p", pid, "--duration", "00:00:02", "-o", "trace.nettrace", NULL);
    _exit(127);
}

static int tracer(void)
{
    char  line[200];
    int   pid = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, "TracerPid:", 10))
            pid = atoi(line + 10);
    if (f)
        fclose(f);
    return pid;
}

/* Leaves @strace attached for ROUNDS rounds of work, then makes it detach while the threads
 * pause. */
static void send_away(pid_t strace)
{
    while (tracer() != strace && waitpid(strace, NULL, WNOHANG | WNOWAIT) == 0)
        usleep(1000);
    int until = atomic_load(&n_rounds) + ROUNDS;
    while (atomic_load(&n_rounds) < until)
        usleep(1000);
    atomic_store(&rest, true);
    while (atomic_load(&n_resting) < THREADS)
        usleep(1000);
    kill(strace, SIGINT);
    while (tracer() == strace)
        usleep(1000);
    atomic_store(&rest, false);
}

int main(int argc, char **argv)
{
    const char *tool = argc > 1 ? argv[1] : "gdb";
    pthread_t   threads[THREADS];
    int         status = 0;

    hosting_start();
    hosting_claim(hosting_work(1) == 0, "work before");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work_on,
                       (void *)(uintptr_t)hosting_guest(i % hosting_len()));
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t child = fork();
    if (!child)
        run_tool(tool);
    if (!strcmp(tool, "strace"))
        send_away(child);
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (!strcmp(tool, "strace")) /* it may end by the signal that made it detach */
        hosting_claim((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) ||
                          (WIFEXITED(status) && WEXITSTATUS(status) == 0),
                      "strace was attached");
    else
        hosting_claim(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s was attached", tool);
    hosting_claim(strcmp(tool, "dotnet-trace") != 0 || !access("trace.nettrace", R_OK),
                  "its result is there");
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    hosting_claim(n_wrong_work == 0, "the threads' work");
    hosting_claim(hosting_work(1) == 0, "work after");
    return hosting_end();
}
