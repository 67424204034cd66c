/* SPDX-License-Identifier: MIT */
/** tools.h - the features this library brings along; callback/entry.c lists them for the manager. */
#ifndef SXS_TOOLS_H
#define SXS_TOOLS_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_guard_tool;  /* whose thread is it: for the signal router */
extern const struct sxs_tool sxs_pin_tool;    /* exceptions stay where they are: for runtimes' filters */
extern const struct sxs_tool sxs_census_tool; /* the counts of the closing table */

#endif
