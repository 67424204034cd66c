/* SPDX-License-Identifier: MIT */
/** calls.h - the tool "calls": exact counts and times of calls, by function and by call path. */
#ifndef SXS_TOOLS_CALLS_CALLS_H
#define SXS_TOOLS_CALLS_CALLS_H

#include "elt/calls_functions.h"
#include "manager/tool.h"

extern const struct sxs_tool sxs_calls_tool;

/** sxs_calls_use_hooks - set the assembly hooks of every mode. Call before any runtime starts.
 *  @hooks: borrowed, static. Indexed by enum sxs_calls_mode, SXS_CALLS_TRACE_HOOKS and
 *  SXS_CALLS_VALUES_HOOKS. */
void sxs_calls_use_hooks(const struct sxs_calls_hooks *hooks);

#endif
