/* SPDX-License-Identifier: MIT */
/* private_copy.c - temporary copies of runtimes, and the process that removes them. */
#include "harness/private_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char  base[PATH_MAX]; /* the temporary folder; empty before the first copy */
static pid_t cleaner;

/* Write end of a pipe. The cleaner removes the copies when this end is closed. */
static atomic_int lifeline = -1;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path) && errno != ENOENT;
}

static void remove_base(void)
{
    nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs in the cleaner process: waits for the parent's end, then removes the copies. It closes all
 * descriptors of the parent, so that a reader of the parent's output sees the end of file when the
 * parent ends. It leaves the parent's session, so that a signal from the keyboard that ends the
 * parent does not end the cleaner. */
__attribute__((noreturn)) static void clean_at_end(int pipe_end)
{
    char    byte;
    ssize_t got;

    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    int null = open("/dev/null", O_RDWR);
    dup2(pipe_end, 3);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close_range(4, ~0u, 0);
    do
        got = read(3, &byte, 1);
    while (got < 0 && errno == EINTR);
    remove_base();
    _exit(0);
}

static int start_cleaner(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    cleaner = fork();
    if (cleaner == 0) {
        close(ends[1]);
        clean_at_end(ends[0]);
    }
    close(ends[0]);
    if (cleaner < 0) {
        close(ends[1]);
        return -1;
    }
    lifeline = ends[1];
    return 0;
}

static int make_base(void)
{
    const char *tmp = getenv("TMPDIR");

    if (base[0])
        return 0;
    if (!tmp || tmp[0] != '/')
        tmp = "/tmp";
    int len = snprintf(base, sizeof(base), "%s/runsxs-XXXXXX", tmp);
    if (len < 0 || (size_t)len >= sizeof(base) || !mkdtemp(base)) {
        base[0] = '\0';
        return -1;
    }
    if (start_cleaner()) {
        remove_base();
        base[0] = '\0';
        return -1;
    }
    return 0;
}

static int copy_file(const char *from, const char *to)
{
    int     in = open(from, O_RDONLY | O_CLOEXEC);
    int     out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    char    buf[64 * 1024];
    ssize_t got = -1;

    if (in >= 0 && out >= 0) {
        while ((got = read(in, buf, sizeof(buf))) > 0) {
            for (ssize_t at = 0; at < got;) {
                ssize_t put = write(out, buf + at, (size_t)(got - at));
                if (put < 0 && errno == EINTR)
                    continue;
                if (put <= 0)
                    goto done;
                at += put;
            }
        }
    }
done:
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out))
        got = -1;
    return got == 0 ? 0 : -1;
}

static int fill_copy(const char *dir, const char *copy)
{
    char           from[PATH_MAX], to[PATH_MAX];
    DIR           *list = opendir(dir);
    struct dirent *entry;
    int            err = 0;

    if (!list)
        return -1;
    while (!err && (entry = readdir(list))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        int from_len = snprintf(from, sizeof(from), "%s/%s", dir, name);
        int to_len = snprintf(to, sizeof(to), "%s/%s", copy, name);
        if ((size_t)from_len >= sizeof(from) || (size_t)to_len >= sizeof(to))
            err = -1;
        else
            err = strstr(name, ".so") ? copy_file(from, to) : symlink(from, to);
    }
    closedir(list);
    return err;
}

char *sxs_private_copy(const char *dir, size_t index, char *why, size_t why_size)
{
    char        copy[PATH_MAX];
    const char *name = strrchr(dir, '/');

    if (make_base()) {
        snprintf(why, why_size, "cannot make a temporary folder for a copy of %s: %s", dir,
                 strerror(errno));
        return NULL;
    }
    /* Keep the last part of the path: programs read the version there. */
    int len = snprintf(copy, sizeof(copy), "%s/%zu", base, index);
    if (len > 0 && (size_t)len < sizeof(copy) && mkdir(copy, 0700) == 0)
        len += snprintf(copy + len, sizeof(copy) - (size_t)len, "%s", name ? name : "/runtime");
    if (len < 0 || (size_t)len >= sizeof(copy) || mkdir(copy, 0700) || fill_copy(dir, copy)) {
        snprintf(why, why_size, "cannot copy %s to %s: %s", dir, copy, strerror(errno));
        return NULL;
    }
    char *out = strdup(copy);
    if (!out)
        snprintf(why, why_size, "no memory for the copy of %s", dir);
    return out;
}

void sxs_private_copy_remove(void)
{
    int fd = atomic_exchange(&lifeline, -1);

    if (fd < 0)
        return;
    close(fd);
    while (waitpid(cleaner, NULL, 0) < 0 && errno == EINTR)
        ;
}
