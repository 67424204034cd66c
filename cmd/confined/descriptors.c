/* SPDX-License-Identifier: MIT */
#include "cmd/confined/descriptors.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for one descriptor beside a message. */
union room {
    struct cmsghdr align;
    char           bytes[CMSG_SPACE(sizeof(int))];
};

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void sxs_confined_close_others(int *keep, size_t n)
{
    unsigned from = 3;
    qsort(keep, n, sizeof(*keep), by_number);
    for (size_t i = 0; i < n; i++) {
        if (keep[i] < (int)from)
            continue;
        if (keep[i] > (int)from)
            close_range(from, (unsigned)keep[i] - 1, 0);
        from = (unsigned)keep[i] + 1;
    }
    close_range(from, ~0U, 0);
}

int sxs_confined_send(int socket, const void *bytes, size_t size, int fd)
{
    union room    control = {0};
    struct iovec  part = {(void *)(uintptr_t)bytes, size};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t       n;
    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof(control);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    do
        n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    return n == (ssize_t)size ? 0 : EMSGSIZE;
}

/* Returns the first descriptor of a message, or -1; closes the others. */
static int take_first(struct msghdr *m)
{
    int first = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}

ssize_t sxs_confined_receive(int socket, void *bytes, size_t size, int *fd)
{
    union room    control;
    struct iovec  part = {bytes, size};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    ssize_t       n;
    *fd = -1;
    do
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        *fd = take_first(&m);
    if (n == 0 && *fd >= 0) { /* an empty message is no message */
        close(*fd);
        *fd = -1;
    }
    return n;
}
