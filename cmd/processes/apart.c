/* SPDX-License-Identifier: MIT */
#include "cmd/processes/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/confined/stuck.h"
#include "cmd/processes/inside.h"

#define STUCK_MS 5000u /* a copy that moves no byte for so long has ended */

/* Waits for the child as long as it makes progress. Returns the errno value with which it has ended, or
 * ETIMEDOUT: it is left behind, because a file system that does not answer holds it. */
static int wait_copied(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    struct sxs_stuck      seen = {0};
    int                   status, ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 &&
           !sxs_stuck_for(&seen, child, STUCK_MS))
        nanosleep(&pause, NULL);
    if (ended == 0)
        kill(child, SIGKILL);
    return ended == 0 ? ETIMEDOUT : ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int sxs_copy_apart(int (*copy)(void *arg, struct sxs_copy_result *result), void *arg, int *keep,
                   size_t n, struct sxs_copy_result *result)
{
    pid_t                   parent = getpid();
    int                     err;
    struct sxs_copy_result *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *result = (struct sxs_copy_result){0};
    if (shared == MAP_FAILED)
        return ENOMEM;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        err = sxs_inside_seclude(keep, n, parent);
        _exit((err ? err : copy(arg, shared)) & 0xFF); /* errno values are small */
    }
    err = child < 0 ? errno : wait_copied(child);
    *result = *shared;
    munmap(shared, sizeof(*shared));
    return err;
}
