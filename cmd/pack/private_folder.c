/* SPDX-License-Identifier: MIT */
#include "cmd/pack/private_folder.h"

#include "base/env.h"
#include "cmd/output/must.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Everything that was made, in this order. A signal handler reads the list: it changes only while
 * the signals are blocked. */
static struct {
    char **paths; /* owned */
    size_t n, cap;
    pid_t  owner; /* a child process removes nothing */
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
    if (made.owner)
        return;
    made.owner = getpid();
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

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        sxs_must(NULL);
    return path;
}

enum what { FOLDER, SUBFOLDER, FILE_TO_WRITE };

/* Makes @path, whose last six characters are replaced for a FOLDER, and adds it to the list. Returns
 * a descriptor for a file, else 0; or -1 with errno. @path is owned by the list then, else freed. */
static int make(enum what what, char *path)
{
    sigset_t before;
    prepare();
    block(&before);
    int made_it = what == FOLDER ? mkdtemp(path) ? 0 : -1
                  : what == SUBFOLDER
                      ? mkdir(path, 0700)
                      : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int err = errno;
    if (made_it >= 0)
        add_path(path);
    else
        free(path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return made_it;
}

const char *sxs_private_folder(void)
{
    const char *tmp = sxs_env_named("TMPDIR");
    char       *path = join(tmp && *tmp ? tmp : "/tmp", "sxsprof-pack-XXXXXX");
    return make(FOLDER, path) == 0 ? path : NULL;
}

int sxs_private_subfolder(const char *folder, const char *name)
{
    return make(SUBFOLDER, join(folder, name)) == 0 || errno == EEXIST ? 0 : -1;
}

int sxs_private_file(const char *folder, const char *name)
{
    return make(FILE_TO_WRITE, join(folder, name));
}

uint64_t sxs_private_room(const char *folder)
{
    struct statvfs st;
    return statvfs(folder, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize / 2 : 0;
}

void sxs_private_remove(const char *folder)
{
    size_t len = strlen(folder);
    for (size_t i = made.n; i-- > 0;)
        if (strncmp(made.paths[i], folder, len) == 0)
            remove_path(made.paths[i]);
}
