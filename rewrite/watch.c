/* SPDX-License-Identifier: MIT */
/* watch.c - folders are watched, not files: editors put a new file in the place of the old. */
#include "rewrite/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager/base/log.h"

#define SETTLE_MS 30 /* of several files written one after the other, all are read at once */
#define CHANGES   (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)

#define GONE      (IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

static int         fd = -1;
static int         watched = -1;    /* what inotify calls the folder; -1: it is gone, and looked for */
static char        folder[PATH_MAX] = ".";
static const char *only; /* file name; NULL: all files of the folder */

void sxs_watch(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    int         is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (is_folder)
        snprintf(folder, sizeof(folder), "%s", path);
    else if (slash)
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    only = is_folder ? NULL : slash ? slash + 1 : path;
    fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watched = fd < 0 ? -1 : inotify_add_watch(fd, folder, CHANGES | GONE);
    if (watched < 0)
        sxs_warn("tool instrument: %s is not watched: %s", folder, strerror(errno));
}

/* Another may come in its place, and be another folder to inotify. */
static void lose(void)
{
    inotify_rm_watch(fd, watched);
    watched = -1;
    sxs_warn("tool instrument: %s is gone, and looked for", folder);
}

static int is_back(void)
{
    if (fd >= 0 && watched < 0)
        watched = inotify_add_watch(fd, folder, CHANGES | GONE);
    return watched >= 0;
}

static int is_ours(const struct inotify_event *event)
{
    const char *dot = event->len ? strrchr(event->name, '.') : NULL;
    if (event->mask & IN_Q_OVERFLOW)
        return 1;
    return only ? event->len && strcmp(event->name, only) == 0 : dot && strcmp(dot, ".xml") == 0;
}

static int drain(void)
{
    _Alignas(struct inotify_event) char buffer[4096];
    ssize_t                             n;
    int                                 any = 0;
    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        for (char *at = buffer; at < buffer + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)at;
            if (event->wd == watched && event->mask & (IN_DELETE_SELF | IN_MOVE_SELF))
                lose();
            any |= is_ours(event);
            at += sizeof(*event) + event->len;
        }
    return any;
}

int sxs_watch_is_folder_now(const char *path)
{
    struct stat st;
    return only && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int sxs_watch_wait(int ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    int           any = watched < 0 && is_back();
    while (poll(&p, 1, any ? SETTLE_MS : ms) > 0 && drain())
        any = 1;
    return any;
}
