/* SPDX-License-Identifier: MIT */
#include "report/assembly_file.h"

#include "report/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int sxs_assembly_open(const char *path, struct sxs_metadata *md)
{
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void       *bytes;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        return sxs_wrong_input("%s: %s", path, strerror(err));
    }
    bytes = S_ISREG(st.st_mode) && st.st_size
                ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED || sxs_metadata_read(md, bytes, (size_t)st.st_size) != 0)
        return sxs_wrong_input("%s: not a .NET assembly", path);
    return SXS_EXIT_OK;
}
