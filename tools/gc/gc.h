/* SPDX-License-Identifier: MIT */
/** gc.h - the tool "gc": records each collection in detail: generation, reason, pauses, and bytes
 *  of every generation. */
#ifndef SXS_TOOLS_GC_GC_H
#define SXS_TOOLS_GC_GC_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_gc_tool;

#endif
