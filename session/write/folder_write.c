/* SPDX-License-Identifier: MIT */
#include "session/write/folder_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "session/format/folder_safe.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Arguments of a function that sxs_descriptors_call() runs. */
struct job {
    struct sxs_folder *folder;
    const char        *path;     /* of the folder or of the session */
    char              *why;      /* receives the reason of a failure */
    size_t             why_size; /* bytes */
};

int sxs_folder_use(const struct sxs_folder *folder)
{
    struct stat st;
    int         fd, err;
    if (folder->fd >= 0)
        return folder->fd;
    fd = open(folder->path, FOLDER);
    if (fd < 0)
        return -errno;
    err = fstat(fd, &st) ? errno : st.st_dev != folder->dev || st.st_ino != folder->ino ? ESTALE : 0;
    if (!err)
        return fd;
    close(fd);
    return -err;
}

void sxs_folder_used(const struct sxs_folder *folder, int fd)
{
    if (fd >= 0 && fd != folder->fd)
        close(fd);
}

/* Fill in @folder from its descriptor @fd, and take ownership of @fd: keep it open only if it lies
 * in a descriptor table that the host cannot reach. */
static int keep_descriptor(struct sxs_folder *folder, int fd)
{
    struct stat st;
    int         err = fstat(fd, &st) ? errno : 0;
    folder->dev = st.st_dev;
    folder->ino = st.st_ino;
    folder->fd = -1;
    if (!err && sxs_descriptors_are_own())
        folder->fd = fd;
    else
        close(fd);
    return -err;
}

static int open_folder(void *arg)
{
    struct job *job = arg;
    int         fd;
    if (!realpath(job->path, job->folder->path))
        return -errno;
    fd = open(job->folder->path, FOLDER);
    return fd < 0 ? -errno : keep_descriptor(job->folder, fd);
}

int sxs_folder_open(struct sxs_folder *folder, const char *path)
{
    struct job job = {.folder = folder, .path = path};
    return sxs_descriptors_call(open_folder, &job);
}

/* ---- the process's folder in a session ----------------------------------------------------- */

static int refuse_folder(const struct job *job, int err)
{
    snprintf(job->why, job->why_size, "%s", strerror(err));
    return -1;
}

/* Copy @path to @out (@size bytes) without slashes at its end, which would make the kernel follow a
 * symbolic link. Returns 0, or -1 when the path is too long. */
static int without_slashes(const char *path, char *out, size_t size)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len >= size)
        return -1;
    memcpy(out, path, len);
    out[len] = '\0';
    return 0;
}

/* Create the session folder if it is missing, and open it. Returns a descriptor, or -1 with a
 * reason. */
static int open_session(const struct job *job)
{
    char        path[PATH_MAX];
    struct stat st;
    int         fd;
    if (without_slashes(job->path, path, sizeof(path)))
        return refuse_folder(job, ENAMETOOLONG);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return refuse_folder(job, errno);
    fd = open(path, FOLDER);
    if (fd < 0 && errno == ENOTDIR && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        snprintf(job->why, job->why_size, "it is a symbolic link; expected the folder itself");
        return -1;
    }
    if (fd < 0 || fstat(fd, &st) != 0)
        refuse_folder(job, errno);
    else if (!sxs_folder_refused(&st, job->why, job->why_size) &&
             (realpath(path, job->folder->path) || refuse_folder(job, errno) == 0))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Create and open this process's folder in @session. It is named after the pid, or pid-2, pid-3...
 * when a process with the same pid was recorded before. @name receives the name (@size bytes).
 * Returns a descriptor, or -1 with errno set. */
static int make_folder(int session, char *name, size_t size)
{
    for (int n = 1; n < 1000; n++) {
        if (n == 1)
            snprintf(name, size, "%d", (int)getpid());
        else
            snprintf(name, size, "%d-%d", (int)getpid(), n);
        if (mkdirat(session, name, 0700) == 0)
            return openat(session, name, FOLDER);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static int make_in_session(void *arg)
{
    struct job *job = arg;
    char        name[32];
    size_t      len;
    int         session = open_session(job), fd, err;
    if (session < 0)
        return -1;
    fd = make_folder(session, name, sizeof(name));
    err = errno;
    close(session);
    if (fd < 0)
        return refuse_folder(job, err);
    len = strlen(job->folder->path);
    if (snprintf(job->folder->path + len, sizeof(job->folder->path) - len, "/%s", name) >=
        (int)(sizeof(job->folder->path) - len)) {
        close(fd);
        return refuse_folder(job, ENAMETOOLONG);
    }
    err = keep_descriptor(job->folder, fd);
    return err ? refuse_folder(job, -err) : 0;
}

int sxs_folder_make(struct sxs_folder *folder, const char *session, char *why, size_t size)
{
    struct job job = {.folder = folder, .path = session, .why = why, .why_size = size};
    int        err = sxs_descriptors_call(make_in_session, &job);
    return err == -ECHILD ? refuse_folder(&job, ECHILD) : err;
}

/* ---- closing and removing ------------------------------------------------------------------ */

static int close_folder(void *arg)
{
    struct sxs_folder *folder = arg;
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
    return 0;
}

static int remove_folder(void *arg)
{
    struct sxs_folder *folder = arg;
    close_folder(folder);
    rmdir(folder->path);
    return 0;
}

/* The folder is this process's own: nobody else puts files there. */
static int discard_folder(void *arg)
{
    struct sxs_folder   *folder = arg;
    int                  fd = sxs_folder_use(folder);
    DIR                 *dir = fd >= 0 ? fdopendir(dup(fd)) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        unlinkat(fd, entry->d_name, 0); /* fails for "." and ".." */
    if (dir)
        closedir(dir);
    sxs_folder_used(folder, fd);
    return remove_folder(folder);
}

void sxs_folder_discard(struct sxs_folder *folder)
{
    sxs_descriptors_call(discard_folder, folder);
}

void sxs_folder_close(struct sxs_folder *folder)
{
    sxs_descriptors_call(close_folder, folder);
}

void sxs_folder_remove(struct sxs_folder *folder)
{
    sxs_descriptors_call(remove_folder, folder);
}
