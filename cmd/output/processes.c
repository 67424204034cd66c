/* SPDX-License-Identifier: MIT */
#include "cmd/output/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool sxs_process_wanted(const struct sxs_session_process *p, const char *process)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%u", p->pid);
    return !process || strcmp(process, p->folder) == 0 || strcmp(process, pid) == 0;
}

const char *sxs_process_version(const struct sxs_session_process *p, uint32_t number)
{
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (p->runtimes[i].number == number)
            return p->runtimes[i].version;
    return "?";
}

int sxs_processes_take(const char *dir, const struct sxs_session *session, const char *process,
                       sxs_process_take *take, void *arg)
{
    int err = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    for (size_t i = 0; i < session->n_processes && !err; i++) {
        const struct sxs_session_process *p = &session->processes[i];
        int folder = sxs_process_wanted(p, process)
                         ? openat(fd, p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                         : -1;
        if (folder < 0)
            continue;
        err = take(arg, p, folder);
        close(folder);
    }
    close(fd);
    return err;
}
