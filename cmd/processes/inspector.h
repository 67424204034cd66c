/* SPDX-License-Identifier: MIT */
/** inspector.h - the two child processes that open and parse files of other processes. */
#ifndef SXS_CMD_PROCESSES_INSPECTOR_H
#define SXS_CMD_PROCESSES_INSPECTOR_H

#include "cmd/processes/examine.h"
#include "cmd/processes/maps.h"

#include <sys/types.h>

/** The answer about a file. */
struct sxs_inspector_answer {
    int                  err; /* 0, or why the file cannot be opened */
    dev_t                dev; /* of the file that was parsed */
    ino_t ino; /* 0: it was read from the memory of the process, without its version */
    struct sxs_inspected found;
};

/**
 * sxs_inspector_ask - let the children open and parse a file; one that cannot be opened is read from the memory of
 * the process, if this user may read that. Starts them if necessary.
 * @dir, @f, @version: as for sxs_inspect().
 * Returns 0, or an errno value: ETIMEDOUT when they did not answer within two seconds, EBADMSG when one of
 * them ended; both are ended then, and are started by the next request, 16 times at most.
 */
int sxs_inspector_ask(int dir, const struct sxs_mapped_file *f, bool version,
                      struct sxs_inspector_answer *out);

/** sxs_inspector_end - end the children, if there are any. */
void sxs_inspector_end(void);

#endif
