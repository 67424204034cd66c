/* SPDX-License-Identifier: MIT */
/** heap_process.h - asks a running process for a heap snapshot. */
#ifndef SXS_CMD_HEAP_PROCESS_H
#define SXS_CMD_HEAP_PROCESS_H

#include "cmd/processes/session.h"

#include <stdint.h>
#include <sys/types.h>

/** Where the snapshot is. */
struct sxs_heap_asked {
    struct sxs_process_session session; /* owned; open the snapshot below session.open */
    uint32_t                   number;
};

/**
 * sxs_heap_ask - ask process @pid for a heap snapshot, and wait until it is complete.
 * @timeout: seconds to wait. @request: of values, as a text (session/format/heap.h); NULL: none.
 * @out: receives the place of the snapshot; free it by sxs_heap_asked_free(), whatever is returned.
 * Returns SXS_EXIT_OK; SXS_EXIT_USAGE after a message when the process does not exist, has no
 * libsxsprof.so, or does not have the tool heap with a signal; SXS_EXIT_PROBLEM after a message
 * when the snapshot did not come.
 */
int  sxs_heap_ask(pid_t pid, unsigned timeout, const char *request, struct sxs_heap_asked *out);
void sxs_heap_asked_free(struct sxs_heap_asked *a);

#endif
