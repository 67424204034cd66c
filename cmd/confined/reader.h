/* SPDX-License-Identifier: MIT */
/**
 * reader.h - confines the process that reads sessions, packed sessions, symbol files and assemblies of
 * strangers. A mistake in the code that reads them must not give their author the rights of the user who
 * reads them.
 */
#ifndef SXS_CMD_CONFINED_READER_H
#define SXS_CMD_CONFINED_READER_H

#include "cmd/confined/confined.h"

#include <stdbool.h>
#include <stddef.h>

/** sxs_confined_is_off - return true when the user wants files to be read unconfined
 *  (SXSPROF_CONFINE=off). */
bool sxs_confined_is_off(void);

/** What a reader needs besides its limits. */
struct sxs_confined_reader {
    const char *const *writes; /* folders and files that it may write to; borrowed */
    size_t             n_writes;
    bool               network; /* it connects to servers */
    /* Called when what it may write to is limited, and before anything else is, to start processes that may do
     * what it may not. @c: limits and capabilities for them. NULL: none. */
    void (*start)(const struct sxs_confinement *c, void *arg);
    void *start_arg; /* borrowed */
};

/**
 * sxs_confine_reader - confine the calling process for the rest of its life. It has no capabilities but
 * those for reading and writing files and for looking up files as another user, executes nothing, reaches
 * no other process, opens no sockets unless @r->network, and writes only to what @r names.
 * @limits: of memory, time and sizes; its `capabilities` and `calls` are not used.
 * Does nothing with SXSPROF_CONFINE=off but to set the limits. For a process with one thread.
 */
void sxs_confine_reader(const struct sxs_confinement *limits, const struct sxs_confined_reader *r);

/** sxs_confined_is_reader - return true when this process, or the one that forked it, has called
 *  sxs_confine_reader(). */
bool sxs_confined_is_reader(void);

#endif
