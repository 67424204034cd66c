/* SPDX-License-Identifier: MIT */
/** data_kind.h - the kinds of data that a report can be about: words, units, and the tools that record them. */
#ifndef SXS_CMD_REPORT_DATA_KIND_H
#define SXS_CMD_REPORT_DATA_KIND_H

#include "cmd/report/model.h"

struct sxs_data_kind {
    const char        *name;  /* the value of --data */
    const char        *title; /* "allocated", as the beginning of a title; "" for samples, calls */
    const char        *one, *many; /* what is counted: "object", "objects" */
    const char        *record;     /* what to run in order to record it: "sxsprof alloc" */
    enum sxs_cost_kind cost;       /* 0: no cost */
    bool               live;       /* costs that are not gone */
    enum sxs_unit      unit; /* of weights; not used with --by-count and for calls without time */
    /* Sample types of pprof: of what is counted, and of weights. Those of Go's own profiles. */
    const char *pprof_count, *pprof_weight;
};

/** sxs_data_kind - return the description of @data, which is not SXS_DATA_ANY. Static. */
const struct sxs_data_kind *sxs_data_kind(enum sxs_data data);

/** sxs_data_named - return the data of the name @name; SXS_DATA_ANY when there is none. */
enum sxs_data sxs_data_named(const char *name);

/** sxs_data_names - return "samples|calls|...". Static. */
const char *sxs_data_names(void);

/** sxs_data_is_cost - return true when @data are costs. */
static inline bool sxs_data_is_cost(enum sxs_data data)
{
    return data >= SXS_DATA_ALLOC && data <= SXS_DATA_LOCK_OWNERS;
}

#endif
