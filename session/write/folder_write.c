/* SPDX-License-Identifier: MIT */
#include "session/write/folder_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/tree.h"
#include "session/format/folder_open.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Arguments of a function that sxs_descriptors_call() runs. */
struct written_folder_job {
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
    struct written_folder_job *job = arg;
    char                       why[200];
    int fd = sxs_folder_path_open(job->path, SXS_FOLDER_PATH_LAST_LINK, job->folder->path, NULL,
                                  why, sizeof(why));
    return fd < 0 ? fd : keep_descriptor(job->folder, fd);
}

int sxs_folder_open(struct sxs_folder *folder, const char *path)
{
    struct written_folder_job job = {.folder = folder, .path = path};
    return sxs_descriptors_call(open_folder, &job);
}

static int open_segments(void *arg)
{
    struct written_folder_job *job = arg;
    int                        fd = sxs_session_folder_open(job->path, SXS_FOLDER_PATH_MAKE,
                                                            SXS_NAMES_PROCESSES | SXS_NAMES_SEGMENTS, job->folder->path,
                                                            NULL, job->why, job->why_size);
    int                        err = fd < 0 ? fd : keep_descriptor(job->folder, fd);
    if (fd >= 0 && err)
        snprintf(job->why, job->why_size, "%s", strerror(-err));
    return err;
}

int sxs_folder_open_segments(struct sxs_folder *folder, const char *path, char *why, size_t size)
{
    struct written_folder_job job = {.folder = folder, .path = path, .why = why, .why_size = size};
    int                       err = sxs_descriptors_call(open_segments, &job);
    if (err == -ECHILD)
        snprintf(why, size, "%s", strerror(ECHILD));
    return err;
}

/* ---- the process's folder in a session ----------------------------------------------------- */

static int refuse_folder(const struct written_folder_job *job, int err)
{
    snprintf(job->why, job->why_size, "%s", strerror(err));
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
    struct written_folder_job *job = arg;
    char                       name[32];
    size_t                     len;
    int                        session, fd, err;
    session =
        sxs_session_folder_open(job->path, SXS_FOLDER_PATH_MAKE,
                                SXS_NAMES_PROCESSES | SXS_NAMES_SEGMENTS | SXS_NAMES_SEGMENT_FILES,
                                job->folder->path, NULL, job->why, job->why_size);
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
    struct written_folder_job job = {
        .folder = folder, .path = session, .why = why, .why_size = size};
    int err = sxs_descriptors_call(make_in_session, &job);
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
    int                fd = sxs_folder_use(folder);
    if (fd >= 0)
        sxs_tree_unlink(fd, strrchr(folder->path, '/') + 1); /* its path may lead elsewhere */
    sxs_folder_used(folder, fd);
    close_folder(folder);
    return 0;
}

/* The folder is this process's own: nobody else puts files there. */
static int discard_folder(void *arg)
{
    struct sxs_folder *folder = arg;
    int                fd = sxs_folder_use(folder);
    if (fd >= 0)
        sxs_tree_clear(fd, 0);
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
