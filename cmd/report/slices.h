/* SPDX-License-Identifier: MIT */
/**
 * slices.h - the weights of a model's nodes by time: slices of the wall clock, such as minutes.
 *
 * The options of a load name the slices. Loading the model fills them, beside the model's own sums.
 * sxs_slices_next() then replaces the weights of the model's nodes by those of one slice after the
 * other, so that what reads nodes sees one slice. Samples and costs only; costs are at the time at
 * which they were recorded. One process at a time (sxs_report_options.process), because each process
 * has a clock of its own. One thread; not signal-safe.
 */
#ifndef SXS_CMD_REPORT_SLICES_H
#define SXS_CMD_REPORT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct sxs_model;
struct sxs_samples_header;

/** The weight of a node in a slice. */
struct sxs_slice_sum {
    uint64_t slice; /* its number: time / width */
    uint32_t node;
    uint8_t  trace[16]; /* of these samples; zeroed: they have none */
    uint64_t self, self_ns;
    double   n, value; /* of costs */
};

/** Set width_ns, from_ns and to_ns; the rest is zeroed before the load. */
struct sxs_slices {
    uint64_t              width_ns;       /* 0: one slice */
    uint64_t              from_ns, to_ns; /* CLOCK_REALTIME: only this period; to_ns 0: no end */
    struct sxs_slice_sum *sums;           /* owned */
    size_t                n, cap, at;
    double                rest[2]; /* of costs: what rounding has left so far (sxs_cost_whole()) */
    struct sxs_index      index;
};

/** sxs_slices_sample - count a sample. @head: of its process. @time_ns: of the record. @trace: the
 *  16 bytes of its trace's id; NULL: it has none. */
void sxs_slices_sample(struct sxs_slices *s, const struct sxs_samples_header *head,
                       uint64_t time_ns, uint32_t node, uint64_t weight_ns, const uint8_t *trace);

/** sxs_slices_cost - count @n costs with the sum @value. */
void sxs_slices_cost(struct sxs_slices *s, const struct sxs_samples_header *head, uint64_t time_ns,
                     uint32_t node, double n, double value);

/** sxs_slices_begin - call it once, after loading, before sxs_slices_next(). */
void sxs_slices_begin(struct sxs_slices *s);

/** sxs_slices_first - return the number of the next slice; UINT64_MAX when there is none. */
uint64_t sxs_slices_first(const struct sxs_slices *s);

/**
 * sxs_slices_apply - let the nodes of @m have the weights of @slice.
 * Slices are applied in rising order. @m->slice_sums: receives the sums themselves. Returns false when no node has a weight in it; then all are
 * 0. */
bool sxs_slices_apply(struct sxs_slices *s, uint64_t slice, struct sxs_model *m);

void sxs_slices_free(struct sxs_slices *s);

#endif
