/* SPDX-License-Identifier: MIT */
/** log_internal.h - what the files of this folder share. */
#ifndef SXS_CLRIE_LOG_LOG_INTERNAL_H
#define SXS_CLRIE_LOG_LOG_INTERNAL_H

#include "clrie/log/log.h"

/**
 * clrie_log_begin - take the lock of the log, and find out where a text of @level goes.
 * @host: receives the host object with a reference, if the text goes there; else NULL.
 * Returns 1 if the text goes to the file, else 0. clrie_log_end() gives the lock back.
 */
int  clrie_log_begin(uint32_t level, IProfilerManagerLoggingHost **host);
void clrie_log_end(void);

#endif
