/* SPDX-License-Identifier: MIT */
/** attach_options.h - the options of "attach" and "detach", and the processes that they name. */
#ifndef SXS_CMD_ATTACH_OPTIONS_H
#define SXS_CMD_ATTACH_OPTIONS_H

#include "cmd/keep_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Zeroed at first; release with sxs_attach_options_free(). */
struct sxs_attach_options {
    char       *tools;                 /* owned, separated by ';' */
    char       *pick;                  /* owned; NULL: all */
    const char             *mask; /* borrowed; NULL: as the process's SXSPROF_MASK says */
    const char *out;                   /* borrowed; NULL: none was given */
    const char *target;                /* borrowed: a PID or a name */
    uint64_t    duration_ms, delay_ms; /* 0: none */
    bool        all, append, quiet;
    struct sxs_keep_options keep; /* segments instead of one session */
};

void sxs_attach_options_free(struct sxs_attach_options *o);

/**
 * sxs_attach_find - find the processes that @target names: a PID, or the name of a process, of its
 * program or of its assembly.
 * @all: several may have the name.
 * @pids: receives at most @max process IDs. @n: receives their number.
 * Returns SXS_EXIT_OK, or SXS_EXIT_USAGE after a message.
 */
int sxs_attach_find(const char *target, bool all, pid_t *pids, size_t max, size_t *n);

#endif
