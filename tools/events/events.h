/* SPDX-License-Identifier: MIT */
/** events.h - the tool "events": records compilations, collections, suspensions, loads and
 *  threads. */
#ifndef SXS_TOOLS_EVENTS_EVENTS_H
#define SXS_TOOLS_EVENTS_EVENTS_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_events_tool;

#endif
