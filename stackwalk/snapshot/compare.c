/* SPDX-License-Identifier: MIT */
#include "stackwalk/snapshot/compare.h"

#include <string.h>

struct stack_comparison {
    const struct sxs_account  *reported, *walked;
    size_t                     n_reported, n_walked, r, w;
    struct sxs_compared_frame *out;
    size_t                     n_out;
    /* Index in reported: the method of the funclet that was met last; n_reported: none. */
    size_t                parent;
    unsigned              n_lacking, n_excess;
    struct sxs_walk_comparison result;
};

static void put_frame(struct stack_comparison *s, const struct sxs_account *f,
                      enum sxs_frame_verdict verdict)
{
    s->out[s->n_out++] = (struct sxs_compared_frame){.sp = f->sp,
                                                     .ip = f->ip,
                                                     .function = f->function,
                                                     .runtime = f->runtime,
                                                     .verdict = (uint16_t)verdict};
}

static int same_function(const struct sxs_account *a, const struct sxs_account *b)
{
    return a->function && a->function == b->function && a->runtime == b->runtime;
}

/* Returns the index of the reported frame whose method the current walked frame is a funclet of,
 * or n_reported. Catch and finally blocks run as functions of their own. They are called by the
 * runtime's native code or by the method they belong to, which is further down the stack and is
 * reported. */
static size_t parent_of_funclet(const struct stack_comparison *s)
{
    const struct sxs_account *f = &s->walked[s->w], *caller = f + 1;
    if (s->w + 1 >= s->n_walked)
        return s->n_reported;
    if (!same_function(caller, f) && (!caller->is_module || caller->module_of != f->runtime))
        return s->n_reported;
    for (size_t i = s->r; i < s->n_reported; i++)
        if (same_function(&s->reported[i], f))
            return i;
    return s->n_reported;
}

/* Whether the current walked frame is the youngest one that is not native code. */
static int is_youngest(const struct stack_comparison *s)
{
    for (size_t i = 0; i < s->w; i++)
        if (!s->walked[i].is_module)
            return 0;
    return 1;
}

/* Whether the current walked frame is a method, called from native code, that is entering or
 * leaving its runtime. The runtime does not report such a method before it has entered or after
 * it has left, and the thread waits there for the end of the suspension. */
static int is_entering(const struct stack_comparison *s)
{
    const struct sxs_account *f = &s->walked[s->w];
    return s->w + 1 < s->n_walked && f[1].is_module && s->w > 0 && f[-1].module_of == f->runtime &&
           is_youngest(s);
}

static void only_walked(struct stack_comparison *s)
{
    const struct sxs_account *f = &s->walked[s->w];
    size_t                    parent;
    if (!f->function) {
        put_frame(s, f, f->runtime ? SXS_VERDICT_NO_METADATA : SXS_VERDICT_NATIVE);
        s->result.n_no_metadata += f->runtime != 0;
        return;
    }
    if (f->is_dispatch) {
        put_frame(s, f, SXS_VERDICT_DISPATCH);
        s->result.n_dispatch++;
        return;
    }
    parent = parent_of_funclet(s);
    if (parent < s->n_reported) {
        put_frame(s, f, SXS_VERDICT_FUNCLET);
        s->result.n_funclets++;
        if (s->parent == s->n_reported || s->parent < parent)
            s->parent = parent;
    } else if (is_entering(s)) {
        put_frame(s, f, SXS_VERDICT_ENTERING);
        s->result.n_entering++;
    } else if (s->parent < s->n_reported) {
        put_frame(s, f, SXS_VERDICT_UNWOUND);
        s->result.n_unwound++;
    } else {
        put_frame(s, f, SXS_VERDICT_EXCESS);
        s->n_excess++;
    }
}

static void only_reported(struct stack_comparison *s)
{
    put_frame(s, &s->reported[s->r], SXS_VERDICT_LACKING);
    s->n_lacking++;
}

int sxs_compare_is_at(const struct sxs_account *r, const struct sxs_account *w)
{
    return (r->ip == w->ip || r->ip + 1 == w->ip) && r->sp >= w->sp;
}

/* Whether @r and @w are the same frame. The runtime may report another SP or IP than the frame
 * has: for a method in a P/Invoke, the SP from before a stackalloc; for a precompiled method in
 * a P/Invoke, the IP where the P/Invoke began; and both while the thread waits after the call
 * for the end of the suspension. */
static int is_same(const struct stack_comparison *s, const struct sxs_account *r,
                   const struct sxs_account *w)
{
    if (!same_function(r, w))
        return 0;
    if (r->sp == w->sp || sxs_compare_is_at(r, w))
        return 1;
    if (r->sp < w->sp || s->r > 0 || !is_youngest(s))
        return 0;
    for (size_t i = s->w + 1; i < s->n_walked && s->walked[i].sp <= r->sp; i++)
        /* @w is a funclet: that older frame is the reported one. */
        if (s->walked[i].sp == r->sp)
            return 0;
    return 1;
}

static void step_frame(struct stack_comparison *s)
{
    int                       any_r = s->r < s->n_reported, any_w = s->w < s->n_walked;
    const struct sxs_account *r = any_r ? &s->reported[s->r] : NULL;
    const struct sxs_account *w = any_w ? &s->walked[s->w] : NULL;
    if (s->r > s->parent)
        s->parent = s->n_reported; /* the funclet's method was passed */
    if (any_r && any_w && is_same(s, r, w)) {
        put_frame(s, w, SXS_VERDICT_SAME);
        s->result.n_pinvokes += !sxs_compare_is_at(r, w);
        s->r++;
        s->w++;
    } else if (!any_r || (any_w && w->sp <= r->sp)) {
        only_walked(s);
        s->w++;
    } else {
        only_reported(s);
        s->r++;
    }
}

struct sxs_walk_comparison sxs_compare(const struct sxs_account *reported, size_t n_reported,
                                       const struct sxs_account *walked, size_t n_walked,
                                       int is_whole, struct sxs_compared_frame *out, size_t *n_out)
{
    struct stack_comparison s = {.reported = reported,
                                 .walked = walked,
                                 .n_reported = n_reported,
                                 .n_walked = n_walked,
                                 .out = out,
                                 .parent = n_reported};
    while (s.w < n_walked || (s.r < n_reported && is_whole))
        step_frame(&s);
    s.result.n_frames = (unsigned)s.r;
    s.result.kind = s.n_lacking && s.n_excess ? SXS_COMPARED_OTHER
                    : s.n_lacking             ? SXS_COMPARED_LACKING
                    : s.n_excess              ? SXS_COMPARED_EXCESS
                                              : SXS_COMPARED_ALIKE;
    for (; s.r < n_reported; s.r++) /* older than the end of the walk */
        put_frame(&s, &reported[s.r], SXS_VERDICT_SAME);
    *n_out = s.n_out;
    return s.result;
}

size_t sxs_compare_ips(const struct sxs_compared_frame *frames, size_t n, uintptr_t from,
                       uint64_t *ips, size_t cap)
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < cap; i++)
        if (frames[i].sp >= from && frames[i].verdict != SXS_VERDICT_EXCESS)
            ips[at++] = frames[i].ip;
    return at;
}
