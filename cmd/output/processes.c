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

size_t sxs_process_n_parts(const struct sxs_session_process *p)
{
    return p->n_parts ? p->n_parts : 1;
}

const char *sxs_process_part_folder(const struct sxs_session_process *p, size_t number)
{
    return p->n_parts ? p->parts[number] : p->folder;
}

/* Calls @take for each folder of a process. */
static int take_parts(int dir_fd, const struct sxs_session *session,
                      const struct sxs_session_process *p, sxs_process_take *take, void *arg)
{
    int err = 0;
    for (size_t i = 0; i < sxs_process_n_parts(p) && !err; i++) {
        struct sxs_process_part part = {p, sxs_process_part_folder(p, i), i, -1,
                                        &session->period};
        part.fd = openat(dir_fd, part.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (part.fd < 0)
            continue;
        err = take(arg, &part);
        close(part.fd);
    }
    return err;
}

int sxs_processes_take(const char *dir, const struct sxs_session *session, const char *process,
                       sxs_process_take *take, void *arg)
{
    int err = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    for (size_t i = 0; i < session->n_processes && !err; i++)
        if (sxs_process_wanted(&session->processes[i], process))
            err = take_parts(fd, session, &session->processes[i], take, arg);
    close(fd);
    return err;
}
