/* SPDX-License-Identifier: MIT */
/** tools/sample/tool.h - the tool "sample": stacks of all threads, by CPU time or wall time; and the
 *  tool "wait": what threads wait for, by wall time. */
#ifndef SXS_TOOLS_SAMPLE_TOOL_H
#define SXS_TOOLS_SAMPLE_TOOL_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_sample_tool, sxs_wait_tool;

#endif
