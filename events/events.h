/* SPDX-License-Identifier: MIT */
/** events.h - the tools "exceptions" and "events": what was thrown, and what runtimes were busy with. */
#ifndef SXS_EVENTS_EVENTS_H
#define SXS_EVENTS_EVENTS_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_exceptions_tool;
extern const struct sxs_tool sxs_events_tool;

#endif
