/* SPDX-License-Identifier: MIT */
/* exceptions.c - frames that an exception leaves, and filters, which no hook tells of. */
#include "tools/calls/exceptions.h"

#include "tools/calls/fast_path.h"

/* What a hook is told is a multiple of 8: a filter's frame lies 1 below the one it stands on. */
static int is_filter(const struct sxs_calls_frame *f)
{
    return (f->sp & 1) && f->sp != UINTPTR_MAX;
}

/* A filter is not a call: what it called is its caller's. */
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

/* The first of our functions that is asked has the youngest frame. What lies above was left by an
 * exception that became another one in native code. */
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
        drop_above(s, f);
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
    const struct sxs_calls_frame *f = s ? s->top : NULL;
    while (s && f->sp <= sp)
        f--;
    if (s)
        drop_above(s, f);
}
