/* SPDX-License-Identifier: MIT */
#include "cmd/output/processes.h"

#include <stdio.h>
#include <string.h>

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
