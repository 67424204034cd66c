/* SPDX-License-Identifier: MIT */
/**
 * tools/tools.h - the small tools of the library. tools/options/tool_list.h lists all tools for the
 * manager. */
#ifndef SXS_TOOLS_TOOLS_H
#define SXS_TOOLS_TOOLS_H

#include "manager/tool.h"

/* Reports to the signal router which runtime a thread belongs to. */
extern const struct sxs_tool sxs_guard_tool;
/* Pins exceptions while runtimes call exception filters. */
extern const struct sxs_tool sxs_pin_tool;
extern const struct sxs_tool sxs_census_tool; /* the counts in the table at the end of a run */

#endif
