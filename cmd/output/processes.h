/* SPDX-License-Identifier: MIT */
/** processes.h - iterate over the requested processes of a session. */
#ifndef SXS_CMD_OUTPUT_PROCESSES_H
#define SXS_CMD_OUTPUT_PROCESSES_H

#include "session/read/file_read.h"
#include "session/read/session_read.h"

/**
 * sxs_process_wanted - return true when @p is the requested process.
 * @process: a folder's name or a pid; NULL requests all processes.
 */
bool sxs_process_wanted(const struct sxs_session_process *p, const char *process);

/**
 * sxs_process_version - return the version of runtime @number of process @p, or "?" when the
 * runtime is not known. Borrowed from @p.
 */
const char *sxs_process_version(const struct sxs_session_process *p, uint32_t number);

/** One folder of a process; most processes have one. All is borrowed. */
struct sxs_process_part {
    const struct sxs_session_process *process;
    const char                       *folder; /* below the folder of the session, for messages */
    size_t                            number; /* 0: the first folder of this process */
    int                               fd;
    const struct sxs_files           *files;  /* that folder, for readers of its files */
    const struct sxs_period          *period; /* the time to show */
    int                               err;    /* why `fd` is -1; errno value */
};

/** sxs_process_n_parts, sxs_process_part_folder - return how many folders @p has, at least 1, and
 *  their paths below the folder of the session, in order of time. */
size_t      sxs_process_n_parts(const struct sxs_session_process *p);
const char *sxs_process_part_folder(const struct sxs_session_process *p, size_t number);

/** Called for one folder of a process. Returns 0, or an errno value that ends the iteration. */
typedef int sxs_process_take(void *arg, const struct sxs_process_part *part);

#endif
