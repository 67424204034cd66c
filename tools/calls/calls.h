/* SPDX-License-Identifier: MIT */
/** calls.h - the tool "calls": exact counts and times per function and call path. */
#ifndef SXS_CALLS_CALLS_H
#define SXS_CALLS_CALLS_H

#include "tools/calls/count.h"
#include "manager/tool.h"

extern const struct sxs_tool sxs_calls_tool;

/** The hooks of each mode, before any runtime starts. @hooks: static, by enum sxs_calls_mode. */
void sxs_calls_use_hooks(const struct sxs_calls_hooks *hooks);

#endif
