/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/alloc.h - the tool "alloc": which objects a program allocates, and where.
 *
 * 10.0 and later report randomly chosen objects, 8.0 and 9.0 each object with which an amount
 * has been allocated. With the option `exact` every object is counted, and randomly chosen ones are
 * recorded with their stacks. docs/internals/memory.md has the reasons.
 */
#ifndef SXS_TOOLS_ALLOC_ALLOC_H
#define SXS_TOOLS_ALLOC_ALLOC_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_alloc_tool;

#endif
