/* SPDX-License-Identifier: MIT */
/** tools/heap/walk.h - reads the objects of a runtime without a collection. */
#ifndef SXS_TOOLS_HEAP_WALK_H
#define SXS_TOOLS_HEAP_WALK_H

#include "tools/heap/sink.h"
#include "tools/heap/statics.h"

/**
 * sxs_heap_walk - stop @sink's runtime and receive all objects of its collected heap, garbage too,
 * with their references, and of roots the static fields in @slots. The runtime refuses that unless
 * it was stopped by SuspendRuntime.
 * Returns S_OK, E_NOTIMPL before .NET 9, or another failure of the runtime. On the thread for
 * collections (manager/force_gc.h). */
HRESULT sxs_heap_walk(struct sxs_heap_sink *sink, struct sxs_heap_slots *slots);

#endif
