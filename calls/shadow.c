/* SPDX-License-Identifier: MIT */
/* shadow.c - the calling thread's hooked calls under way, as a stack. */
#include "calls/shadow.h"

#include <errno.h>

#include "calls/state.h"

static struct sxs_runtime *runtime_of(const struct sxs_walk *walk, uint32_t number)
{
    for (size_t i = 0; i < walk->n_rts; i++)
        if (sxs_runtime_number(walk->rts[i]) == number)
            return walk->rts[i];
    return NULL;
}

int sxs_calls_shadow(struct sxs_walk *walk)
{
    const struct sxs_calls_state *s = sxs_calls_state;
    if (!sxs_calls_have_shadow())
        return -ENODATA;
    for (const struct sxs_calls_frame *f = s ? s->top : NULL; s && f > s->frames; f--) {
        if (!f->fn)
            continue;
        struct sxs_frame frame = {.fn = {runtime_of(walk, f->fn->runtime), f->fn->id},
                                  .info_hr = S_FALSE};
        frame.at.rsp = f->sp;
        if (frame.fn.rt && sxs_walk_push(walk, &frame))
            break;
    }
    return 0;
}
