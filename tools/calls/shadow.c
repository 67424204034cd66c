/* SPDX-License-Identifier: MIT */
/* shadow.c - copies the calling thread's shadow stack, or its logical stack, to a walk. */
#include "tools/calls/shadow.h"

#include <errno.h>

#include "tools/calls/thread_state.h"

static struct sxs_runtime *runtime_of(const struct sxs_walk *walk, uint32_t number)
{
    for (size_t i = 0; i < walk->n_rts; i++)
        if (sxs_runtime_number(walk->rts[i]) == number)
            return walk->rts[i];
    return NULL;
}

static int push_frame(struct sxs_walk *walk, const struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_frame frame = {.fn = {runtime_of(walk, fn->runtime), fn->id}, .info_hr = S_FALSE};
    frame.at.rsp = sp;
    return frame.fn.rt ? sxs_walk_push(walk, &frame) : 0;
}

/* Returns 0 for a frame that a tail call has left, and for that of the dispatcher of tail calls, which
 * is not a counted function. */
static int is_on_stack(const struct sxs_calls_frame *f)
{
    return (f->sp & 3) != 2 && !(atomic_load(&f->fn->off) & SXS_CALLED_TAILS);
}

int sxs_calls_shadow(struct sxs_walk *walk)
{
    const struct sxs_calls_state *s = sxs_calls_state;
    if (!sxs_calls_have_shadow())
        return -ENODATA;
    for (const struct sxs_calls_frame *f = s ? s->top : NULL; s && f > s->frames; f--) {
        if (!f->fn || !is_on_stack(f))
            continue;
        if (push_frame(walk, f->fn, f->sp))
            break;
    }
    return 0;
}

static sxs_calls_ref ref_of(const struct sxs_calls_state *s, const struct sxs_calls_node *node)
{
    return (sxs_calls_ref)(((uintptr_t)node - (uintptr_t)s->cells) / SXS_CALLS_CELL);
}

/* Returns 1 if the call of @f lies elsewhere in the tree than below its caller on the stack. */
static int is_placed(const struct sxs_calls_state *s, const struct sxs_calls_frame *f)
{
    return f->start && f->node->parent != ref_of(s, f[-1].node);
}

int sxs_calls_logical(struct sxs_walk *walk)
{
    const struct sxs_calls_state *s = sxs_calls_state;
    const struct sxs_calls_frame *f = s ? s->top : NULL;
    const struct sxs_calls_node  *node;
    if (!sxs_functions_awaits_followed())
        return -ENODATA;
    for (; s && f > s->frames; f--) {
        if (f->fn && is_on_stack(f) && push_frame(walk, f->fn, f->sp))
            return 0;
        if (f->fn && is_placed(s, f))
            break;
    }
    if (!s || f == s->frames)
        return 0;
    for (node = sxs_calls_cell(f->node->parent); node->function; node = sxs_calls_cell(node->parent)) {
        const struct sxs_called *fn = sxs_functions_at(node->function);
        if (fn && push_frame(walk, fn, 0))
            break;
    }
    return 0;
}
