/* SPDX-License-Identifier: MIT */
#include "instr/metadata/metadata_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_SIZE_MAX (1 << 30)
#define TRIES     3 /* attempts, when a file changes while it is copied */

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Copies @size bytes at offset @at of the file. Returns an errno value; EBUSY: the file is shorter
 * than before. */
static int copy_part(const struct sxs_metadata_file *f, int fd, size_t at, size_t size)
{
    while (size) {
        ssize_t n = pread(fd, f->bytes + at, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (!n)
            return EBUSY;
        at += (size_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static int copy_metadata(const struct sxs_metadata_file *f, int fd)
{
    int err = 0;
    for (int step = 0; !err && step < SXS_METADATA_STEPS; step++) {
        struct sxs_blob b = sxs_metadata_part((enum sxs_metadata_step)step, f->bytes, f->size);
        err = b.size ? copy_part(f, fd, (size_t)(b.at - f->bytes), b.size) : EINVAL;
    }
    return err;
}

/* Copies the open file @fd. Uses anonymous mapped memory, so that bytes that are not copied take no
 * memory. */
static int copy_file(struct sxs_metadata_file *f, int fd, enum sxs_metadata_copy copy)
{
    struct stat after;
    void       *bytes;
    int         err;
    f->bytes = NULL;
    if (fstat(fd, &f->st))
        return errno;
    if (!S_ISREG(f->st.st_mode) || f->st.st_size <= 0)
        return EINVAL;
    if (f->st.st_size > FILE_SIZE_MAX)
        return EFBIG;
    f->size = (size_t)f->st.st_size;
    bytes = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (bytes == MAP_FAILED)
        return ENOMEM;
    f->bytes = bytes;
    err = copy == SXS_COPY_ALL ? copy_part(f, fd, 0, f->size) : copy_metadata(f, fd);
    if (!err || err == EINVAL) { /* if the file changed meanwhile, the copy may be a mixture */
        if (fstat(fd, &after) || !is_same(&f->st, &after))
            err = EBUSY;
        else if (sxs_metadata_read(&f->md, f->bytes, f->size))
            err = EINVAL;
    }
    if (err)
        sxs_metadata_file_free(f);
    return err;
}

int sxs_metadata_file_read(struct sxs_metadata_file *f, const char *path,
                           enum sxs_metadata_copy copy)
{
    int err = EBUSY;
    for (int i = 0; err == EBUSY && i < TRIES; i++) {
        int fd =
            open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for a pipe's writer */
        if (fd < 0)
            return errno;
        err = copy_file(f, fd, copy);
        close(fd);
    }
    return err;
}

void sxs_metadata_file_free(struct sxs_metadata_file *f)
{
    if (f->bytes)
        munmap(f->bytes, f->size);
    f->bytes = NULL;
}

int sxs_metadata_file_is(const struct sxs_metadata_file *f, const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && is_same(&f->st, &st);
}
