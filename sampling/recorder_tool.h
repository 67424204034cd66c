/* SPDX-License-Identifier: MIT */
/** sampling/recorder_tool.h - the tool "recorder", which other tools need: records the runtimes,
 *  threads, code and pauses of the process. */
#ifndef SXS_SAMPLING_RECORDER_TOOL_H
#define SXS_SAMPLING_RECORDER_TOOL_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_recorder_tool;

#endif
