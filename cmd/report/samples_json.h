/* SPDX-License-Identifier: MIT */
/** samples_json.h - the samples of a session in the JSON report. */
#ifndef SXS_CMD_REPORT_SAMPLES_JSON_H
#define SXS_CMD_REPORT_SAMPLES_JSON_H

#include "cmd/output/json_stream.h"
#include "cmd/report/model.h"

/**
 * sxs_samples_json - write the samples in @m, which has SXS_DATA_SAMPLES, under these keys:
 * "samples" (an object: counts, weights in ns, what is missing), "sampled_functions",
 * "sampled_threads" and "sampletree" (lists; a row of the tree refers to rows of the other two, and
 * to its caller in the tree, by their indexes, which begin with 0).
 * Returns 0, or -1 when out of memory or when the output failed.
 */
int sxs_samples_json(struct sxs_json_stream *to, const struct sxs_model *m);

#endif
