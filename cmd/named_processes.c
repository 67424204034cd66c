/* SPDX-License-Identifier: MIT */
#include "cmd/named_processes.h"

#include "cmd/command.h"
#include "cmd/processes/find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int find_named(const char *name, pid_t *pids, size_t max, size_t *n)
{
    struct sxs_process_list list;
    int                     status = SXS_EXIT_OK;
    size_t                  found = 0;
    int                     err = sxs_process_list_read(&list, sxs_process_named, name);
    if (err)
        status = sxs_wrong_input("/proc: %s", strerror(err));
    for (; !status && found < list.n; found++)
        if (found < max)
            pids[found] = list.items[found].pid;
    if (!status && found == 0)
        status =
            sxs_wrong_input("%s: no process with a .NET runtime has this name; sxsprof ps lists "
                            "them",
                            name);
    else if (!status && found > max)
        status = sxs_wrong_input("%s: %zu processes have this name; expected at most %zu", name,
                                 found, max);
    *n = found;
    sxs_process_list_free(&list);
    return status;
}

int sxs_named_processes(const char *target, bool all, pid_t *pids, size_t max, size_t *n)
{
    struct sxs_process p;
    char               why[1024];
    if (all && target[strspn(target, "0123456789")])
        return find_named(target, pids, max, n);
    if (all)
        return sxs_wrong_input("--all: expected a name with it, not a PID");
    int err = sxs_process_find(target, &p, why, sizeof(why));
    pids[0] = p.pid;
    *n = 1;
    sxs_process_free(&p);
    return err ? sxs_wrong_input("%s", why) : SXS_EXIT_OK;
}
