/* SPDX-License-Identifier: MIT */
#include "session/write/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/held.h"
#include "base/session_state.h"

/* The map of one file may take 1/AS_SHARE of RLIMIT_AS. There are up to five files, and each
 * runtime reserves gigabytes for its code, so all files together must leave more than nine tenths
 * of the limit to the host. */
#define AS_SHARE 64u

/* Arguments and results of a function that sxs_descriptors_call() runs. */
struct written_file_job {
    struct sxs_file     *file;
    uint64_t             from, size; /* range of the file, in bytes */
    size_t               map_size;   /* bytes */
    unsigned char       *map;        /* receives the map */
    const unsigned char *data;       /* what is written */
};

/* ---- work on the thread of base/descriptors.h ----------------------------------------------- */

/* Return 0 when @fd is the file that sxs_file_create() created, -ESTALE when it is another file, or
 * another -errno. */
static int check_identity(const struct sxs_file *file, int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    return S_ISREG(st.st_mode) && st.st_dev == file->dev && st.st_ino == file->ino ? 0 : -ESTALE;
}

/* Return a descriptor of @file, or -errno. Give it back by end_use(). */
static int use_descriptor(const struct sxs_file *file)
{
    int folder, fd, err;
    if (file->fd >= 0)
        return file->fd;
    folder = sxs_folder_use(file->folder);
    if (folder < 0)
        return folder;
    fd = openat(folder, file->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    err = fd < 0 ? -errno : check_identity(file, fd);
    sxs_folder_used(file->folder, folder);
    if (err && fd >= 0)
        close(fd);
    return err ? err : fd;
}

static void end_use(const struct sxs_file *file, int fd)
{
    if (fd >= 0 && fd != file->fd)
        close(fd);
}

static int map_file(struct written_file_job *job, int fd)
{
    struct stat st;
    int         err = posix_fallocate(fd, 0, (off_t)job->size);
    if (!err && fstat(fd, &st))
        err = errno;
    if (err)
        return -err;
    job->file->dev = st.st_dev;
    job->file->ino = st.st_ino;
    job->map = mmap(NULL, job->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return job->map == MAP_FAILED ? -errno : 0;
}

static int create_file(void *arg)
{
    struct written_file_job *job = arg;
    struct sxs_file         *file = job->file;
    int                      folder = sxs_folder_use(file->folder), fd, err;
    if (folder < 0)
        return folder;
    fd = openat(folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    err = fd < 0 ? -errno : map_file(job, fd);
    if (fd >= 0 && err)
        unlinkat(folder, file->name, 0);
    if (fd >= 0 && !err && sxs_descriptors_are_own())
        file->fd = fd;
    else if (fd >= 0)
        close(fd);
    sxs_folder_used(file->folder, folder);
    return err;
}

/* Reserve blocks before they are touched, because touching them on a full disk causes a SIGBUS. */
static int reserve_space(void *arg)
{
    const struct written_file_job *job = arg;
    int                            fd = use_descriptor(job->file), err;
    if (fd < 0)
        return fd;
    err = -posix_fallocate(fd, (off_t)job->from, (off_t)job->size);
    end_use(job->file, fd);
    return err;
}

static int write_data(void *arg)
{
    const struct written_file_job *job = arg;
    int                            fd = use_descriptor(job->file), err = 0;
    if (fd < 0)
        return fd;
    for (uint64_t done = 0; done < job->size && !err;) {
        ssize_t n =
            pwrite(fd, job->data + done, (size_t)(job->size - done), (off_t)(job->from + done));
        if (n > 0)
            done += (uint64_t)n;
        else if (n == 0 || errno != EINTR)
            err = n == 0 ? -ENOSPC : -errno;
    }
    end_use(job->file, fd);
    return err;
}

static int shorten_file(void *arg)
{
    const struct written_file_job *job = arg;
    int                            fd = use_descriptor(job->file), err;
    if (fd < 0)
        return fd;
    err = ftruncate(fd, (off_t)job->size) ? -errno : 0;
    end_use(job->file, fd);
    return err;
}

static int close_file(void *arg)
{
    struct sxs_file *file = arg;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    return 0;
}

static int hold_file(void *arg)
{
    const struct sxs_file *file = arg;
    return file->fd >= 0 ? -sxs_held_mark(file->fd) : -ENOTSUP;
}

static int undo_create(void *arg)
{
    struct sxs_file *file = arg;
    int              folder = sxs_folder_use(file->folder);
    close_file(file);
    if (folder >= 0)
        unlinkat(folder, file->name, 0);
    sxs_folder_used(file->folder, folder);
    return 0;
}

/* ---- functions of file_write.h ------------------------------------------------------------- */

static _Atomic unsigned n_no_room;
SXS_SESSION_KEEPS(n_no_room);

/* Counts @err if it says that the disk is full. Returns @err. */
static int note_room(int err)
{
    if (err == -ENOSPC || err == -EDQUOT)
        atomic_fetch_add(&n_no_room, 1);
    return err;
}

unsigned sxs_file_no_room(void)
{
    return atomic_load(&n_no_room);
}

int sxs_file_create(struct sxs_file *file, const struct sxs_folder *folder, const char *name,
                    size_t header_size, size_t map_size, unsigned char **map)
{
    struct written_file_job job = {.file = file, .size = header_size, .map_size = map_size};
    int                     err;
    *file = (struct sxs_file){.folder = folder, .name = name, .fd = -1};
    err = note_room(sxs_descriptors_call(create_file, &job));
    if (!err)
        *map = job.map;
    return err;
}

int sxs_file_reserve(const struct sxs_file *file, uint64_t from, uint64_t size)
{
    struct written_file_job job = {
        .file = (struct sxs_file *)(uintptr_t)file, .from = from, .size = size};
    return note_room(sxs_descriptors_call(reserve_space, &job));
}

int sxs_file_write(const struct sxs_file *file, uint64_t from, const void *data, size_t size)
{
    struct written_file_job job = {
        .file = (struct sxs_file *)(uintptr_t)file, .from = from, .size = size, .data = data};
    return note_room(sxs_descriptors_call(write_data, &job));
}

int sxs_file_shorten(const struct sxs_file *file, uint64_t size)
{
    struct written_file_job job = {.file = (struct sxs_file *)(uintptr_t)file, .size = size};
    return sxs_descriptors_call(shorten_file, &job);
}

int sxs_file_hold(const struct sxs_file *file)
{
    return sxs_descriptors_call(hold_file, (struct sxs_file *)(uintptr_t)file);
}

void sxs_file_close(struct sxs_file *file)
{
    sxs_descriptors_call(close_file, file);
}

void sxs_file_undo(struct sxs_file *file, unsigned char *map, size_t map_size)
{
    munmap(map, map_size);
    sxs_descriptors_call(undo_create, file);
}

uint64_t sxs_file_may_map(uint64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    return wanted < limit.rlim_cur / AS_SHARE ? wanted : limit.rlim_cur / AS_SHARE;
}
