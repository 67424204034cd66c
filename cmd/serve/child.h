/* SPDX-License-Identifier: MIT */
/** child.h - starts a process that makes what one request asks for. */
#ifndef SXS_CMD_SERVE_CHILD_H
#define SXS_CMD_SERVE_CHILD_H

#include "cmd/serve/serve.h"

#include <sys/types.h>

/** What a child works with. Everything is borrowed. */
struct sxs_serve_child {
    const struct sxs_serve_options *o;
    const struct sxs_serve_wanted  *wanted;
    int source_fd, out_fd, err_fd, tell_fd; /* as for sxs_serve_make() */
};

/**
 * sxs_serve_child_start - start a process that calls sxs_serve_make(). It is confined
 * (cmd/confined/reader.h), has limits of processor time, of memory and of the size of its output, no other
 * descriptor of this process, and ends with this process. Returns its number, or -1 with errno.
 */
pid_t sxs_serve_child_start(const struct sxs_serve_child *c);

#endif
