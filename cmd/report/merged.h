/* SPDX-License-Identifier: MIT */
/** merged.h - the trees of two models as one, for comparisons. */
#ifndef SXS_CMD_REPORT_MERGED_H
#define SXS_CMD_REPORT_MERGED_H

#include "cmd/report/model.h"

/** One thread with the nodes of both models; the weights of the nodes are those of now. */
struct sxs_merged {
    struct sxs_model both;
    uint64_t        *before; /* by node of both: its own weight before; owned */
};

/**
 * sxs_merged_make - merge the trees of @before and @now. Frames are matched by their names and the
 * names of their files without the folders. The version of the runtime is not part of what is
 * matched: cmd/output/runtime_pairs.h says which runtime's frame is matched with which. The version
 * of a runtime of the result is that of the pair, such as "9.0.18 -> 10.0.11", also for a frame that
 * only one model has. Managed frames of
 * different runtimes of one model stay different. Threads are not distinguished.
 * @out: needs sxs_merged_free(). @now: must outlive it.
 */
void sxs_merged_make(struct sxs_merged *out, const struct sxs_model *before,
                     const struct sxs_model *now);

/** sxs_merged_sum - let the frames of both have the sums of one side, as after sxs_model_sum(). Call it once
 *  for what was before, or once for what is now. */
void sxs_merged_sum(struct sxs_merged *m, bool before);

void sxs_merged_free(struct sxs_merged *m);

#endif
