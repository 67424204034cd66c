/* SPDX-License-Identifier: MIT */
/** read.h - read(2) until enough has been read. */
#ifndef SXS_READ_H
#define SXS_READ_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/** sxs_read_up_to - read from @fd until @size bytes of @to are filled or the file ends. An interrupted call is made again.
 *  Returns how many bytes were read, or -1 with errno. Any thread. */
static inline ssize_t sxs_read_up_to(int fd, void *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = TEMP_FAILURE_RETRY(read(fd, (char *)to + got, size - got));
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

#endif
