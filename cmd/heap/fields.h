/* SPDX-License-Identifier: MIT */
/** fields.h - finds the fields that contain the references of a graph. */
#ifndef SXS_CMD_HEAP_FIELDS_H
#define SXS_CMD_HEAP_FIELDS_H

#include "cmd/heap/graph.h"
#include "cmd/heap/slots.h"

/** sxs_heap_field_of - return where the reference g->to[k] of an object is. Dependent handles are
 *  in no field. */
struct sxs_heap_field sxs_heap_field_of(const struct sxs_heap_graph *g, uint32_t object,
                                        uint32_t k);

#endif
