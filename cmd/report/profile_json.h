/* SPDX-License-Identifier: MIT */
/** profile_json.h - samples or costs of a session in the JSON report. */
#ifndef SXS_CMD_REPORT_PROFILE_JSON_H
#define SXS_CMD_REPORT_PROFILE_JSON_H

#include "cmd/output/json_stream.h"
#include "cmd/report/model.h"

/**
 * sxs_profile_json - write a model of samples or costs under these keys: "profile" (an object: which data, sums, what is
 * missing), "profile_functions", "profile_threads" and "profile_stacks" (lists; a stack refers to rows of the other two
 * by their indexes, which begin with 0). Weights have the unit of the data in their keys: "self_ns", "self_bytes".
 * @m: not of calls, which have keys of their own, and not loaded with by_count. Stacks are written one by one.
 * Returns 0, or -1 when out of memory or when the output failed.
 */
int sxs_profile_json(struct sxs_json_stream *to, const struct sxs_model *m);

#endif
