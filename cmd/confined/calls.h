/* SPDX-License-Identifier: MIT */
/** calls.h - the filters of system calls, by libseccomp. */
#ifndef SXS_CMD_CONFINED_CALLS_H
#define SXS_CMD_CONFINED_CALLS_H

#include "cmd/confined/confined.h"

/**
 * sxs_confined_filter - install the filter for @calls in the calling thread. Needs no_new_privs.
 * Returns 0, or an errno value when the system has no filters.
 */
int sxs_confined_filter(enum sxs_confined_calls calls);

#endif
