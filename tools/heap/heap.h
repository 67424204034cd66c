/* SPDX-License-Identifier: MIT */
/** tools/heap/heap.h - the tool "heap": snapshots of all objects of all runtimes. */
#ifndef SXS_TOOLS_HEAP_HEAP_H
#define SXS_TOOLS_HEAP_HEAP_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_heap_tool;

#endif
