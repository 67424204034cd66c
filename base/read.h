/* SPDX-License-Identifier: MIT */
/** base/read.h - read(2), repeated until the buffer is full or the file ends. */
#ifndef SXS_READ_H
#define SXS_READ_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/** sxs_read_up_to - read from @fd until @size bytes of @to are filled or the file ends. A call that a
 *  signal interrupts is repeated. Returns the number of bytes read, or -1 with errno set. Any thread. */
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
