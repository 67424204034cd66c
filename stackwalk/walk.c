/* SPDX-License-Identifier: MIT */
/* stackwalk/walk.c - the list of frames that all walkers fill. */
#include <stdlib.h>
#include <string.h>

#include "stackwalk/walk_internal.h"

void sxs_walk_begin(struct sxs_walk *walk)
{
    memset(walk, 0, sizeof(*walk));
    walk->n_rts = sxs_runtimes_live(walk->rts, SXS_WALK_RUNTIMES_MAX);
    for (size_t i = 0; i < walk->n_rts; i++)
        walk->hrs[i] = S_FALSE;
}

int sxs_walk_push(struct sxs_walk *walk, const struct sxs_frame *frame)
{
    if (walk->len == SXS_WALK_FRAMES_MAX) {
        walk->end = SXS_WALK_BUFFER_FULL;
        return -1;
    }
    if (walk->len == walk->cap) {
        size_t            cap = walk->cap ? walk->cap * 2 : 64;
        struct sxs_frame *frames = reallocarray(walk->frames, cap, sizeof(*frames));
        if (!frames) {
            walk->end = SXS_WALK_NO_MEMORY;
            return -1;
        }
        walk->frames = frames;
        walk->cap = cap;
    }
    walk->frames[walk->len++] = *frame;
    return 0;
}

void sxs_walk_free(struct sxs_walk *walk)
{
    for (size_t i = 0; i < walk->n_rts; i++)
        sxs_runtime_unref(walk->rts[i]);
    free(walk->frames);
    memset(walk, 0, sizeof(*walk));
}

const char *sxs_walk_end_text(enum sxs_walk_end end)
{
    static const char *const texts[] = {
        [SXS_WALK_BOTTOM] = "bottom of the stack",
        [SXS_WALK_BUFFER_FULL] = "buffer full",
        [SXS_WALK_SP_NOT_OLDER] = "next SP is not older",
        [SXS_WALK_OFF_STACK] = "next frame is off the stack",
        [SXS_WALK_REFUSED] = "runtime refused",
        [SXS_WALK_STEP_FAILED] = "native step failed",
        [SXS_WALK_NO_MEMORY] = "out of memory",
    };
    return (size_t)end < ARRAY_LEN(texts) ? texts[end] : "unknown";
}
