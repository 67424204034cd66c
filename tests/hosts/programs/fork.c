/* SPDX-License-Identifier: MIT */
/* fork - a host that starts child processes while threads are busy in its runtimes.
 *
 * fork exec|vfork|spawn|exit|_exit|callback|daemon|starting
 *   exec      runs /bin/echo by fork and exec  vfork  by vfork and exec    spawn  by posix_spawn
 *   _exit     forks children without exec, which call malloc, printf and _exit
 *   callback  the same, but the fork is made in a callback from managed code
 *   exit      the same, but the children call exit, with an atexit handler. The runtimes are idle
 *             meanwhile: their handlers run in the child and take locks of theirs, so the child hangs
 *             when a thread of the runtime held one at the time of the fork
 *   daemon    forks before the runtimes start; the child hosts the runtimes, as daemons do
 *   starting  a thread forks children with and without exec while the runtimes start */
#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { FORKS = 25, BUSY = 2, IDLE_MS = 100, IDLE_TRIES = 50 };

extern char      **environ;
static atomic_bool stop;
static const char *how;
static pid_t       main_pid;

static void *work_on(void *argument)
{
    const struct hosting_guest *guest = argument;

    while (!atomic_load(&stop)) {
        free(malloc(1000));
        if (!strcmp(how, "exit"))
            continue;
        guest->compute(20000);
        guest->faults(1);
    }
    return NULL;
}

static void at_exit(void)
{
    if (getpid() != main_pid)
        printf("atexit of a child\n");
}

/* The work of a child that does not call exec. Does not return. */
static void live_on(int number)
{
    char *text = malloc(10000);

    memset(text, 'x', 10000);
    text[number % 50] = '\0';
    printf("child %d: %zu\n", number, strlen(text));
    free(text);
    fflush(stdout);
    if (strcmp(how, "exit") != 0)
        _exit(number);
    exit(number); /* NOLINT(concurrency-mt-unsafe): this host tests exit() */
}

/* Returns how often the other threads have gone to sleep, or -1 when one of them is not asleep. Threads
 * of the profiler library are left out, because they wake up regularly. */
static long count_sleeps(void)
{
    char           path[64], line[256];
    long           sum = 0;
    DIR           *tasks = opendir("/proc/self/task");
    struct dirent *task;

    while (sum >= 0 && tasks && (task = readdir(tasks)) != NULL) {
        long sleeps = 0;
        bool counts = true, asleep = true;
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", task->d_name);
        FILE *status =
            task->d_name[0] == '.' || atoi(task->d_name) == gettid() ? NULL : fopen(path, "re");
        while (status && fgets(line, sizeof(line), status)) {
            counts &= strncmp(line, "Name:\tsxsprof", 13) != 0;
            asleep &= strncmp(line, "State:", 6) != 0 || strstr(line, "(sleeping)");
            sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
        }
        if (status)
            fclose(status);
        if (counts)
            sum = asleep ? sum + sleeps : -1;
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

/* Waits until no thread of the runtimes has run for a while; not longer than some seconds. */
static void wait_until_idle(void)
{
    for (int i = 0; i < IDLE_TRIES; i++) {
        long before = count_sleeps();
        usleep(IDLE_MS * 1000);
        if (before >= 0 && count_sleeps() == before)
            return;
    }
}

static bool ended_with(pid_t pid, int code)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static int fork_one(intptr_t number)
{
    char  text[32];
    char *arguments[] = {"/bin/echo", text, NULL};
    pid_t pid = -1;

    snprintf(text, sizeof(text), "echo %d", (int)number);
    if (!strcmp(how, "spawn")) {
        if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ))
            return 0;
    } else if (!strcmp(how, "vfork")) {
        pid = vfork(); /* NOLINT: this host tests vfork() */
        if (!pid) {
            execv(arguments[0], arguments);
            _exit(127);
        }
    } else {
        pid = fork();
        if (!pid && !strcmp(how, "exec")) {
            execv(arguments[0], arguments);
            _exit(127);
        }
        if (!pid)
            live_on((int)number);
    }
    bool lives_on =
        strcmp(how, "exec") != 0 && strcmp(how, "vfork") != 0 && strcmp(how, "spawn") != 0;
    return ended_with(pid, lives_on ? (int)number : 0);
}

static void fork_all(void)
{
    int good = 0;

    for (int i = 0; i < FORKS; i++)
        good += !strcmp(how, "callback") ? hosting_guest(i % hosting_len())->call_back(fork_one, i)
                                         : fork_one(i);
    hosting_claim(good == FORKS, "%d of %d children ended as they should", good, FORKS);
}

/* Starts children until the runtimes have started, alternately without and with exec. */
static void *fork_while_starting(void *n_bad)
{
    char *arguments[] = {"/bin/true", NULL};

    for (int i = 0; !atomic_load(&stop) || i < 2; i++) {
        pid_t pid = fork();
        if (!pid && i % 2 == 0) {
            free(malloc(10000));
            _exit(7);
        }
        if (!pid) {
            execv(arguments[0], arguments);
            _exit(127);
        }
        *(int *)n_bad += !ended_with(pid, i % 2 == 0 ? 7 : 0);
    }
    return NULL;
}

static void start_amid_forks(void)
{
    pthread_t thread;
    int       n_bad = 0;

    pthread_create(&thread, NULL, fork_while_starting, &n_bad);
    hosting_start();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
    hosting_claim(n_bad == 0, "children forked while the runtimes start end as they should");
}

static int run(void)
{
    pthread_t threads[BUSY];

    if (!strcmp(how, "starting"))
        start_amid_forks();
    else
        hosting_start();
    hosting_claim(hosting_work(1) == 0, "work before");
    if (!strcmp(how, "exit"))
        wait_until_idle();
    if (strcmp(how, "daemon") != 0 && strcmp(how, "starting") != 0) {
        for (int i = 0; i < BUSY; i++)
            pthread_create(&threads[i], NULL, work_on,
                           (void *)(uintptr_t)hosting_guest(i % hosting_len()));
        fork_all();
        atomic_store(&stop, true);
        for (int i = 0; i < BUSY; i++)
            pthread_join(threads[i], NULL);
    }
    hosting_claim(hosting_work(1) == 0, "work after");
    return hosting_end();
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "exec";
    main_pid = getpid();
    atexit(at_exit);
    if (strcmp(how, "daemon") != 0)
        return run();
    pid_t pid = fork();
    if (!pid) {
        main_pid = getpid();
        setsid();
        return run();
    }
    return ended_with(pid, 0) ? 0 : 1;
}
