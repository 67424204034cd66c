/* SPDX-License-Identifier: MIT */
#include "base/held.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Whoever asks shares the lock for a moment, so a mark is tried more than once. */
enum { TRIES = 50, PAUSE_NS = 1000000 };

int sxs_held_mark(int fd)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return errno;
        nanosleep(&pause, NULL);
    }
    return EWOULDBLOCK;
}

enum sxs_held sxs_held_is(int dir, const char *path)
{
    enum sxs_held held = SXS_HELD_UNKNOWN;
    int           fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return held;
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        held = SXS_HELD_NO;
    else if (errno == EWOULDBLOCK)
        held = SXS_HELD_YES;
    close(fd); /* gives the lock back */
    return held;
}
