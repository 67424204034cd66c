/* SPDX-License-Identifier: MIT */
#include "record/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int sxs_file_create(int folder_fd, const char *name, size_t header_size, size_t map_size,
                    unsigned char **map)
{
    void *at = MAP_FAILED;
    int   err;
    int fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    err = posix_fallocate(fd, 0, (off_t)header_size);
    if (!err) {
        at = mmap(NULL, map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        err = at == MAP_FAILED ? errno : 0;
    }
    if (err) {
        close(fd);
        unlinkat(folder_fd, name, 0);
        return -err;
    }
    *map = at;
    return fd;
}

void sxs_file_undo(int folder_fd, const char *name, int fd, unsigned char *map, size_t map_size)
{
    munmap(map, map_size);
    close(fd);
    unlinkat(folder_fd, name, 0);
}
