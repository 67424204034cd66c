/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/alloc.h - the tool "alloc": which objects a program allocates, and where.
 *
 * Newer runtimes report randomly chosen objects, older ones each object with which an amount has
 * been allocated (enum sxs_allocation_events of runtime_facts/facts.h). With the option `exact`
 * every object is counted, and randomly chosen ones are recorded with their stacks.
 * docs/internals/memory.md has the reasons.
 */
#ifndef SXS_TOOLS_ALLOC_ALLOC_H
#define SXS_TOOLS_ALLOC_ALLOC_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_alloc_tool;

#endif
