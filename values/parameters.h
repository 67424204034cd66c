/* SPDX-License-Identifier: MIT */
/** parameters.h - a value formatter (values/formatter.h) and its parameters. Private to values/, but
 *  for the fields that tell what a formatter needs. */
#ifndef SXS_VALUES_PARAMETERS_H
#define SXS_VALUES_PARAMETERS_H

#include "values/types.h"

#define SXS_FORMATTER_PARAMS 64u /* a function with more parameters is not shown */

struct sxs_param {
    const char      *name;
    struct sxs_type_desc desc;
    int              is_out; /* 1: an `out` parameter, which has no value when the call begins */
    int              is_in;  /* 1: an `in` parameter, a read-only reference */
};

/** A value formatter. */
struct sxs_formatter {
    struct sxs_runtime      *rt;       /* borrowed */
    int                      by_frame; /* 1: type arguments are known only from a call's frame */
    struct sxs_formatter_draft
                            *draft; /* by_frame: room for the complete formatter; NULL: no memory */
    const char              *refused;  /* reason why values cannot be shown; NULL: they can */
    int                      has_this; /* 1: params[0] is `this` */
    uint32_t                 n_params; /* including `this` */
    uint32_t                 length_at, chars_at; /* offsets in a string object */
    uint32_t                 message_at; /* offset of an exception's message; 0: not known */
    struct sxs_type_desc     result;
    struct sxs_param         params[]; /* n_params */
};

#endif
