/* SPDX-License-Identifier: MIT */
#include "cmd/process_session.h"

#include "cmd/command.h"

#include <errno.h>
#include <string.h>

int sxs_process_session_open(pid_t pid, struct sxs_process_session *out)
{
    int err = sxs_process_session_find(pid, out);
    if (err == ESRCH)
        return sxs_wrong_input("process %d: no such process; expected a folder, or the number of a "
                               "process",
                               (int)pid);
    if (err == EACCES || err == EPERM)
        return sxs_wrong_input("process %d: %s; ask as its user", (int)pid, strerror(err));
    if (!err)
        return SXS_EXIT_OK;
    sxs_complain("process %d: %s", (int)pid, strerror(err));
    return SXS_EXIT_FAILED;
}
