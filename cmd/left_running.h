/* SPDX-License-Identifier: MIT */
/** left_running.h - processes that a command has started, and that still run when it has ended. */
#ifndef SXS_CMD_LEFT_RUNNING_H
#define SXS_CMD_LEFT_RUNNING_H

#include <stddef.h>

/**
 * sxs_left_running - find the processes whose environment has the session folder @out.
 * @text: receives some of them, as "4242 (dotnet), 4250 (sh)"; holds @size bytes.
 * Returns their number. Processes into which this user may not look are not found.
 */
size_t sxs_left_running(const char *out, char *text, size_t size);

#endif
