/* SPDX-License-Identifier: MIT */
/**
 * debuginfod.h - debug files from the servers in DEBUGINFOD_URLS.
 *
 * libdebuginfod is loaded and the servers are asked only when that variable is set. The functions
 * below limit the time of a download and show its progress on a terminal. A server that sends nothing for
 * some time (DEBUGINFOD_TIMEOUT seconds, else 15) is not asked again: the variable is removed from
 * the environment. One thread at a time.
 */
#ifndef SXS_CMD_SYMBOLS_DEBUGINFOD_H
#define SXS_CMD_SYMBOLS_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** sxs_debuginfod_enabled - return true while servers are asked. */
bool sxs_debuginfod_enabled(void);

/**
 * sxs_debuginfod_find - download the debug file with this build-id. At most 1,024 are asked for,
 * because a session can name any number.
 * @name: path of the ELF file, for the line of progress. Call sxs_debuginfod_done() afterwards.
 * Returns a descriptor, which the caller owns, or -1.
 */
int sxs_debuginfod_find(const char *name, const uint8_t *build_id, size_t size);

/**
 * sxs_debuginfod_disable - ask no server from now on, in this process and in programs that it
 * starts.
 */
void sxs_debuginfod_disable(void);

/** sxs_debuginfod_done - erase the line of progress, if there is one. */
void sxs_debuginfod_done(void);

#endif
