/* SPDX-License-Identifier: MIT */
/* exceptions.c - keeps the shadow stack right when an exception leaves frames or a filter runs, for
 * which the runtime calls no hook. */
#include "tools/calls/exceptions.h"

#include "tools/calls/fast_path.h"
#include "tools/calls/tails.h"

/* Returns 1 for a filter's frame. Its sp is 1 less than that of the frame below, and therefore odd;
 * the stack pointers that hooks receive are multiples of 8. The bottom frame has UINTPTR_MAX. */
static int is_filter(const struct sxs_calls_frame *f)
{
    return (f->sp & 1) && f->sp != UINTPTR_MAX;
}

/* Pops the youngest frame. A filter's frame is not a call, so its callees pass to the frame
 * below. */
static void drop_one(struct sxs_calls_state *s, uint64_t now)
{
    if (!is_filter(s->top)) {
        drop(s, now, &s->record->unwound);
        return;
    }
    pass_on(s->top--);
}

static void drop_above(struct sxs_calls_state *s, const struct sxs_calls_frame *f)
{
    uint64_t now;
    if (s->top == f)
        return;
    now = sxs_tick();
    while (s->top > f)
        drop_one(s, now);
}

void sxs_calls_thrown(void)
{
    if (sxs_calls_state)
        sxs_calls_state->thrown = 1;
}

int sxs_calls_is_searching(void)
{
    return sxs_calls_state && sxs_calls_state->thrown;
}

/* Returns the youngest frame of the run of frames directly above @f that tail calls have left. They
 * end with @f or with what is called from it. */
static const struct sxs_calls_frame *with_left(const struct sxs_calls_state *s,
                                               const struct sxs_calls_frame *f)
{
    while (f < s->top && is_left(f + 1))
        f++;
    return f;
}

/* The first hooked function that the search reaches has the youngest valid frame. Frames above it
 * were left by an exception that native code replaced by another exception. */
void sxs_calls_search(const struct sxs_called *fn)
{
    struct sxs_calls_state       *s = sxs_calls_state;
    const struct sxs_calls_frame *f;
    if (!s || !s->thrown || !fn || is_off(fn))
        return;
    s->thrown = 0;
    for (f = s->top; f > s->frames && f->fn != fn; f--)
        ;
    if (f > s->frames)
        drop_above(s, with_left(s, f));
}

void sxs_calls_filter_enter(struct sxs_called *fn)
{
    struct sxs_calls_state *s = sxs_calls_state;
    struct sxs_calls_frame *f;
    if (!s || s->top == s->frames || (s->top == s->limit && sxs_calls_more_frames(s)))
        return;
    f = ++s->top;
    *f = (struct sxs_calls_frame){.sp = f[-1].sp - 1, .node = f[-1].node,
                                  .fn = fn && !is_off(fn) ? fn : NULL};
}

void sxs_calls_filter_leave(void)
{
    struct sxs_calls_state       *s = sxs_calls_state;
    const struct sxs_calls_frame *f = s ? s->top : NULL;
    while (s && f > s->frames && !is_filter(f))
        f--;
    if (s && f > s->frames)
        drop_above(s, f - 1);
}

void sxs_calls_unwound(uintptr_t sp)
{
    struct sxs_calls_state       *s = sxs_calls_state;
    const struct sxs_calls_frame *f = s ? s->top : NULL, *kept;
    while (s && f->sp <= sp)
        f--;
    if (!s)
        return;
    for (kept = f; kept < s->top && kept[1].sp == SXS_TAILS_DISPATCHED; kept++)
        ; /* their dispatcher still runs */
    drop_above(s, kept);
}
