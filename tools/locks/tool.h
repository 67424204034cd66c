/* SPDX-License-Identifier: MIT */
/** tools/locks/tool.h - the tool "locks": records waits for monitors and locks, with the stacks of
 *  the threads that wait and of those that hold them, and the thread pool. */
#ifndef SXS_TOOLS_LOCKS_TOOL_H
#define SXS_TOOLS_LOCKS_TOOL_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_locks_tool;

#endif
