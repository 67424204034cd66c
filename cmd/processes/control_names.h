/* SPDX-License-Identifier: MIT */
/** control_names.h - the names at which a process may listen for requests of the command. */
#ifndef SXS_CMD_PROCESSES_CONTROL_NAMES_H
#define SXS_CMD_PROCESSES_CONTROL_NAMES_H

#include <stdbool.h>

#include "cmd/processes/process.h"
#include "control/message/name.h"

#define SXS_CONTROL_CANDIDATES 1024u

/** Names of a process's control socket, as "@sxsprof/PID/START". */
struct sxs_control_names {
    char     text[SXS_CONTROL_CANDIDATES][sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    unsigned n;
    bool
        has_thread; /* the process has a control thread: the library is in it, whatever else is known */
    bool     are_its_own; /* sockets that the process has open; else names that it may have */
};

/**
 * sxs_control_names_find - find the names of the control socket of @p.
 * Looks which sockets the control thread of the process has open, and asks the kernel for the names of
 * those that listen. When that may not be seen, or there are none, @out receives the names that the
 * library tries first; others can have taken them. On a kernel that does not answer (unix_names.h),
 * names out of /proc/PID/net/unix follow, which others can have made up: the process at the other end
 * of a connection tells which one is true. The lists that it reads are bounded. The main thread only.
 */
void sxs_control_names_find(const struct sxs_process *p, struct sxs_control_names *out);

#endif
