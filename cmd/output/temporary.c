/* SPDX-License-Identifier: MIT */
#include "cmd/output/temporary.h"

#include "base/env.h"
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
    struct temporary_file {
        char *path;   /* owned */
        int   folder; /* below which it is, borrowed; or AT_FDCWD */
    } * entries;
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
static void remove_entry(const struct temporary_file *e)
{
    if (unlinkat(e->folder, e->path, 0) != 0)
        unlinkat(e->folder, e->path, AT_REMOVEDIR);
}

static void remove_all(void)
{
    if (made.owner == getpid())
        for (size_t i = made.n; i-- > 0;)
            remove_entry(&made.entries[i]);
}

static void on_signal(int sig)
{
    int saved = errno;
    remove_all();
    errno = saved;
    raise(sig); /* SA_RESETHAND has restored the default action, which follows this handler */
}

/* Called before something is made. A child process begins a list of its own: its exit and its signals remove
 * what it has made. */
static void prepare(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    static bool      registered;
    if (made.owner == getpid())
        return;
    made.owner = getpid();
    made.n = 0;
    if (!registered)
        atexit(remove_all);
    registered = true;
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* Adds a path to the list. @path: owned by the list. The signals are blocked. */
static void add_path(int folder, char *path)
{
    SXS_GROW(made.entries, made.n, made.cap);
    made.entries[made.n++] = (struct temporary_file){path, folder};
}

static int make(enum sxs_temporary what, int folder, char *path, mode_t mode)
{
    sigset_t before;
    prepare();
    block(&before);
    int made_it =
        what == SXS_TEMPORARY_FOLDER ? mkdtemp(path) ? 0 : -1
        : what == SXS_TEMPORARY_SUBFOLDER
            ? mkdir(path, 0700)
            : openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int err = errno;
    if (made_it >= 0)
        add_path(folder, path);
    else
        free(path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return made_it;
}

const char *sxs_temporary_folder(void)
{
    const char *tmp = sxs_env_named("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

int sxs_temporary_make(enum sxs_temporary what, char *path, mode_t mode)
{
    return make(what, AT_FDCWD, path, mode);
}

int sxs_temporary_make_in(int folder, char *name, mode_t mode)
{
    return make(SXS_TEMPORARY_FILE, folder, name, mode);
}

/* Removes entry @i from the list; the others keep their order. The signals are blocked. */
static void drop_path(size_t i)
{
    free(made.entries[i].path);
    made.n--;
    memmove(&made.entries[i], &made.entries[i + 1], (made.n - i) * sizeof(made.entries[0]));
}

int sxs_temporary_rename(const char *path, const char *to)
{
    sigset_t before;
    int      failed = -1, err = ENOENT;
    block(&before);
    for (size_t i = 0; i < made.n; i++)
        if (strcmp(made.entries[i].path, path) == 0) {
            failed = renameat(made.entries[i].folder, path, made.entries[i].folder, to);
            err = errno;
            if (!failed)
                drop_path(i);
            break;
        }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return failed;
}

void sxs_temporary_remove(const char *prefix)
{
    char  *own = sxs_must(strdup(prefix)); /* @prefix may be the path of an entry, which is freed */
    size_t len = strlen(own);
    sigset_t before;
    block(&before);
    for (size_t i = made.n; i-- > 0;)
        if (strncmp(made.entries[i].path, own, len) == 0) {
            remove_entry(&made.entries[i]);
            drop_path(i); /* its name may be another's from now on */
        }
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(own);
}
