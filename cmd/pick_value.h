/* SPDX-License-Identifier: MIT */
/** pick_value.h - check the choice of runtimes: all, first or one:WHAT. */
#ifndef SXS_CMD_PICK_VALUE_H
#define SXS_CMD_PICK_VALUE_H

#include <stddef.h>

/** What is expected, for messages. */
#define SXS_PICK_EXPECTED "all, first, or one:WHAT (a version prefix or a libcoreclr.so's path)"

/** sxs_pick_check - check a value. Returns NULL when it is valid, else the reason (static, or written
 *  to @why of @size bytes). */
const char *sxs_pick_check(const char *value, char *why, size_t size);

#endif
