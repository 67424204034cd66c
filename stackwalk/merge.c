/* SPDX-License-Identifier: MIT */
#include "stackwalk/walk.h"

SXS_SIGSAFE static uintptr_t run_sp(const struct sxs_run *run)
{
    return run->frames[run->at].at.rsp;
}

SXS_SIGSAFE static int run_is_managed(const struct sxs_run *run)
{
    return run->frames[run->at].fn.id != 0;
}

/** Returns the run whose next frame is the youngest, or NULL when all runs are used up. */
SXS_SIGSAFE static struct sxs_run *youngest_run(struct sxs_run *runs, size_t n_runs)
{
    struct sxs_run *young = NULL;
    for (size_t i = 0; i < n_runs; i++) {
        if (runs[i].at >= runs[i].len)
            continue;
        if (!young || run_sp(&runs[i]) < run_sp(young) ||
            (run_sp(&runs[i]) == run_sp(young) && run_is_managed(&runs[i]) &&
             !run_is_managed(young)))
            young = &runs[i];
    }
    return young;
}

/* The stack grows down, so the frame with the smallest SP is the youngest. When code of one
 * runtime calls code of another with no native frame in between, both runs contain the caller:
 * one as a frame with a function, the other as a frame with FunctionID 0, which stands for
 * frames that the runtime does not own. */
size_t sxs_merge_by_sp(struct sxs_frame *out, size_t cap, struct sxs_run *runs, size_t n_runs)
{
    for (size_t n = 0; n < cap; n++) {
        struct sxs_run *young = youngest_run(runs, n_runs);
        if (!young)
            return n;
        out[n] = young->frames[young->at];
        for (size_t i = 0; i < n_runs; i++)
            while (runs[i].at < runs[i].len && run_sp(&runs[i]) <= out[n].at.rsp)
                runs[i].at++;
    }
    return cap;
}
