/* SPDX-License-Identifier: MIT */
/** log_internal.h - what the files of this folder share. */
#ifndef SXS_CLRIE_LOG_LOG_INTERNAL_H
#define SXS_CLRIE_LOG_LOG_INTERNAL_H

#include <stdatomic.h>

#include "clrie/log/log.h"

/** The host object. References are counted here, so that no code of the host object runs while the lock
 *  of the log is held. */
struct clrie_log_host {
    IProfilerManagerLoggingHost *object; /* one reference */
    const void                  *owner;
    atomic_uint                  refs;
};

/** clrie_log_host_unref - give a reference back; NULL is allowed. The last one releases the object. To be
 *  called without the lock. */
void clrie_log_host_unref(struct clrie_log_host *host);

/**
 * clrie_log_begin - take the lock of the log, and find out where a text of @level goes.
 * @host: receives the host with a reference, if the text goes there; else NULL.
 * Returns 1 if the text goes to the file, else 0. clrie_log_end() gives the lock back.
 */
int  clrie_log_begin(uint32_t level, struct clrie_log_host **host);
void clrie_log_end(void);

#endif
