/* SPDX-License-Identifier: MIT */
#include "control/socket.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/user.h"
#include "control/message/name.h"

#define BACKLOG 128 /* clients that wait in the kernel */

/* Binds @fd to a name that nobody can have taken before. Returns 0 or an errno value. */
static int bind_to_random_name(int fd, unsigned long long start)
{
    struct sockaddr_un name;
    uint64_t           random;
    socklen_t          len;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        return EADDRINUSE;
    len = sxs_control_random_name(&name, getpid(), start, random);
    return bind(fd, (const struct sockaddr *)&name, len) == 0 ? 0 : errno;
}

/* Binds @fd to the first name that is free. Returns 0 or an errno value. */
static int bind_to_free_name(int fd, unsigned long long start)
{
    for (unsigned n = 0; n < SXS_CONTROL_NAMES; n++) {
        struct sockaddr_un name;
        socklen_t          len = sxs_control_name(&name, getpid(), start, n);
        if (bind(fd, (const struct sockaddr *)&name, len) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return errno;
    }
    return bind_to_random_name(fd, start);
}

int sxs_control_listen(unsigned long long start, char *why, size_t why_size)
{
    int fd, err;
    if (!sxs_user_is_known(geteuid())) {
        snprintf(why, why_size,
                 "this process's user (%u) is none of its user namespace, so it cannot be "
                 "distinguished from other users (expected a user of /proc/self/uid_map)",
                 (unsigned)geteuid());
        return -EPERM;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    err = fd < 0 ? errno : bind_to_free_name(fd, start);
    if (!err && listen(fd, BACKLOG) != 0)
        err = errno;
    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    if (err == EADDRINUSE)
        snprintf(why, why_size,
                 "somebody else has taken all %u names of the socket, and the system has no random "
                 "number for another one",
                 SXS_CONTROL_NAMES);
    else
        snprintf(why, why_size, "the socket cannot be made (%s)", strerror(err));
    return -err;
}
