/* SPDX-License-Identifier: MIT */
#include "cmd/output/temporary.h"

#include "cmd/output/must.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that was made, in this order. A signal handler reads the list: it changes only while
 * the signals are blocked. */
static struct {
    char **paths; /* owned */
    size_t n, cap;
    pid_t  owner; /* a child process removes nothing of its parent's */
} made;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void block(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* Signal-safe. */
static void remove_path(const char *path)
{
    if (unlink(path) != 0)
        rmdir(path);
}

static void remove_all(void)
{
    if (made.owner == getpid())
        for (size_t i = made.n; i-- > 0;)
            remove_path(made.paths[i]);
}

static void on_signal(int sig)
{
    remove_all();
    raise(sig); /* SA_RESETHAND has restored the default action */
}

static void prepare(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    static bool      prepared;
    made.owner = made.owner ? made.owner : getpid();
    if (prepared)
        return;
    prepared = true;
    atexit(remove_all);
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* Adds a path to the list. @path: owned by the list. The signals are blocked. */
static void add_path(char *path)
{
    SXS_GROW(made.paths, made.n, made.cap);
    made.paths[made.n++] = path;
}

int sxs_temporary_make(enum sxs_temporary what, char *path, mode_t mode)
{
    sigset_t before;
    prepare();
    block(&before);
    int made_it = what == SXS_TEMPORARY_FOLDER ? mkdtemp(path) ? 0 : -1
                  : what == SXS_TEMPORARY_SUBFOLDER
                      ? mkdir(path, 0700)
                      : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int err = errno;
    if (made_it >= 0)
        add_path(path);
    else
        free(path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return made_it;
}

/* Removes entry @i from the list; the others keep their order. The signals are blocked. */
static void drop_path(size_t i)
{
    free(made.paths[i]);
    made.n--;
    memmove(&made.paths[i], &made.paths[i + 1], (made.n - i) * sizeof(made.paths[0]));
}

int sxs_temporary_rename(const char *path, const char *to)
{
    sigset_t before;
    block(&before);
    int failed = rename(path, to), err = errno;
    for (size_t i = 0; !failed && i < made.n; i++)
        if (made.paths[i] == path || strcmp(made.paths[i], path) == 0) {
            drop_path(i);
            break;
        }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return failed;
}

void sxs_temporary_remove(const char *prefix)
{
    size_t   len = strlen(prefix);
    sigset_t before;
    block(&before);
    for (size_t i = made.n; i-- > 0;)
        if (strncmp(made.paths[i], prefix, len) == 0) {
            remove_path(made.paths[i]);
            drop_path(i); /* its name may be another's from now on */
        }
    sigprocmask(SIG_SETMASK, &before, NULL);
}
