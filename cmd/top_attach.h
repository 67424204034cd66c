/* SPDX-License-Identifier: MIT */
/** top_attach.h - attaches to a process for "top", by the verb "attach" in a process of its own. */
#ifndef SXS_CMD_TOP_ATTACH_H
#define SXS_CMD_TOP_ATTACH_H

#include "cmd/out_dir.h"
#include "cmd/processes/session.h"

/** The tools that are started. */
#define SXS_TOP_ATTACH_TOOLS         \
    {                                \
        "sample", "exceptions", "gc" \
    }

/** An attach. The process that keeps it ends with this one, however this one ends. */
struct sxs_top_attach {
    pid_t              child; /* 0: none */
    struct sxs_out_dir out;   /* a temporary folder */
    bool               has_out;
};

/**
 * sxs_top_attach - attach to @pid and wait until it records.
 * @found: zeroed; receives the session. Free it by sxs_process_session_free(), whatever is returned.
 * Returns SXS_EXIT_OK, or another exit status after a message. Call sxs_top_detach() in any case.
 */
int sxs_top_attach(pid_t pid, struct sxs_top_attach *a, struct sxs_process_session *found);

/** sxs_top_detach - end the session, wait for that, and remove its folder. */
void sxs_top_detach(struct sxs_top_attach *a);

#endif
