/* SPDX-License-Identifier: MIT */
/**
 * types.h - a table of the types of costs, with sums by type.
 */
#ifndef SXS_CMD_COSTS_TYPES_H
#define SXS_CMD_COSTS_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/index.h"
#include "cmd/costs/facts.h"
#include "cmd/costs/sums.h"
#include "session/format/samples.h"

/** Sums of one type, of one kind of costs. */
struct sxs_cost_type {
    uint32_t name;    /* the caller's number of its text */
    uint32_t runtime; /* the caller's number of its runtime; 0: none */
    uint8_t  kind;    /* enum sxs_cost_kind */
    bool     at_least; /* exact only: the runtime has not reported all objects of the type */
    bool     exact;   /* n, value and exact_large are counts, not sums of what was recorded */
    struct sxs_cost_sum all, live;     /* live: without those that are gone */
    struct sxs_cost_sum unchecked;     /* of `live`: those that may be garbage */
    double              large, pinned; /* objects on these heaps, of `all` */
    uint64_t            n, value, exact_large;
    uint64_t            longest; /* the largest value of one cost: bytes or ns */
    uint64_t            open;    /* waits that had not ended */
};

/** A table; zeroed it is empty. */
struct sxs_cost_types {
    struct sxs_cost_type *all; /* owned */
    size_t                n, cap;
    struct sxs_index      index;
};

/**
 * sxs_cost_types_row - return the row of a type; added when new. Valid until the next call. */
struct sxs_cost_type *sxs_cost_types_row(struct sxs_cost_types *t, uint32_t name, uint32_t runtime,
                                         enum sxs_cost_kind kind);

/** sxs_cost_types_find - return the row of a type, or NULL. Valid until the next row is added. */
struct sxs_cost_type *sxs_cost_types_find(struct sxs_cost_types *t, uint32_t name, uint32_t runtime,
                                          enum sxs_cost_kind kind);

/** sxs_cost_type_add - add a recorded cost to its row. */
void sxs_cost_type_add(struct sxs_cost_type *row, const struct sxs_record_cost *v,
                       enum sxs_cost_fate fate);

/** sxs_cost_type_n, _value - return how many and how much, exact if that is known. */
double sxs_cost_type_n(const struct sxs_cost_type *row);
double sxs_cost_type_value(const struct sxs_cost_type *row);
/** sxs_cost_type_large - return how many of the objects are on the large object heap. */
double sxs_cost_type_large(const struct sxs_cost_type *row);

void sxs_cost_types_free(struct sxs_cost_types *t);

#endif
