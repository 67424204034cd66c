/* SPDX-License-Identifier: MIT */
/*
 * values.c - hooks that record a call's arguments and results, and do the work of the trace hooks.
 *
 * The hooks run in cooperative mode: no collection can happen while they run, and they must not
 * cause one. Arguments are formatted before the call's time begins and results after it has ended,
 * so that the formatting is not part of the call's time.
 *
 * There is no tailcall hook with values, because compiled code holds whole vectors in registers across
 * the call of that hook, and the runtime's code around a hook with values preserves only 8 bytes of
 * each vector. sxs_tails_update() finds calls that were left by tail calls.
 */
#include "tools/calls/values.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/session_state.h"
#include "elt/hooks.h"
#include "tools/calls/fast_path.h"
#include "tools/calls/tails.h"
#include "values/complete.h"
#include "values/formatter.h"

/* Returns the caller's stack pointer, or 0 when the runtime's saved registers are not where they are
 * expected. */
static uintptr_t sp_of(uintptr_t info)
{
    static _Atomic int said;
    SXS_SESSION_KEEPS(said);
    uintptr_t          sp = sxs_hooks_sp(info);
    if (!sp && !atomic_exchange(&said, 1))
        sxs_error("tool calls: this runtime's hooks with values are of another form: its calls are "
                  "not counted");
    return sp;
}

/* Returns 1 if there is room for an event of this thread, or the file may provide room. */
static int has_room(const struct sxs_calls_state *s)
{
    return s && (s->event != s->event_end || s->tracing == SXS_TRACE_ON);
}

/* Writes the arguments of a call as text to s->text. Returns the bytes written, 0: nothing. */
static size_t format_arguments(struct sxs_calls_state *s, struct sxs_called *fn,
                               struct sxs_formatter *r, uintptr_t info)
{
    struct sxs_calls_asked *asked = &s->asked;
    COR_PRF_FRAME_INFO      frame = 0;
    ULONG                   asked_size = sizeof(*asked);
    HRESULT                 hr;
    asked->info.numRanges = 0;
    if (!r->n_params && !r->refused)
        return 0;
    hr = r->refused ? S_OK
                    : sxs_info_GetFunctionEnter3Info(fn->rt, (sxs_function){fn->rt, fn->id}, info,
                                                     &frame, &asked_size, &asked->info);
    if (FAILED(hr))
        return 0;
    if (r->by_frame) {
        struct sxs_formatter *whole =
            sxs_formatter_complete(r, (sxs_function){fn->rt, fn->id}, frame);
        if (whole && atomic_compare_exchange_strong(&fn->formatter, &r, whole))
            r = whole; /* not freed: another thread may be using the previous formatter */
    }
    return sxs_formatter_arguments(r, asked->info.ranges, asked->info.numRanges, s->text,
                                   sizeof(s->text));
}

/* Returns the first argument of an async method's MoveNext or of the dispatcher of tail calls; 0 for
 * other functions, and when the runtime does not report the argument. */
static uintptr_t first_of(struct sxs_called *fn, uintptr_t info)
{
    struct {
        COR_PRF_FUNCTION_ARGUMENT_INFO  info;
        COR_PRF_FUNCTION_ARGUMENT_RANGE more[3];
    } asked;
    COR_PRF_FRAME_INFO frame = 0;
    ULONG              size = sizeof(asked);
    asked.info.numRanges = 0;
    if (!is_special(fn) ||
        FAILED(sxs_info_GetFunctionEnter3Info(fn->rt, (sxs_function){fn->rt, fn->id}, info, &frame,
                                              &size, &asked.info)) ||
        !asked.info.numRanges || asked.info.ranges[0].length != sizeof(uintptr_t))
        return 0;
    return *(const uintptr_t *)asked.info.ranges[0].startAddress;
}

/* Returns the newest event if it is of this call and @kind, else NULL. @before: s->event before the
 * call was recorded. */
static const struct sxs_calls_event *noted(const struct sxs_calls_state *s,
                                           const struct sxs_calls_event *before,
                                           const struct sxs_called      *fn,
                                           enum sxs_calls_event_kind     kind)
{
    const struct sxs_calls_event *e;
    if (!s || s->event == before || !s->event)
        return NULL;
    e = s->event - 1;
    return e->kind == kind && node_at(s, e->node)->function == fn->cell ? e : NULL;
}

void sxs_values_enter(struct sxs_called *fn, uintptr_t info)
{
    struct sxs_calls_state       *s = sxs_calls_state_get();
    struct sxs_formatter         *r = atomic_load_explicit(&fn->formatter, memory_order_acquire);
    const struct sxs_calls_event *before, *e;
    uintptr_t                     sp = sp_of(info);
    size_t                        size = 0;
    int                           err = errno;
    if (!sp)
        return;
    if (s && s->top->sp <= sp) /* a tail call's callee has its caller's SP */
        sxs_tails_update(s, sp, 1, sxs_tick());
    before = s ? s->event : NULL;
    if (r && has_room(s))
        size = format_arguments(s, fn, r, info);
    if (sxs_trace_enter(fn, sp))
        sxs_tree_enter_slow(fn, sp, first_of(fn, info));
    if (sxs_calls_state)
        sxs_tails_entered(sxs_calls_state, sp);
    if (size) {
        e = noted(s, before, fn, SXS_CALLS_ENTER);
        if (e)
            sxs_calls_note_text(s, e, s->text, size);
    }
    errno = err;
}

void sxs_values_leave(struct sxs_called *fn, uintptr_t info)
{
    uint64_t                        now = sxs_tick();
    struct sxs_calls_state         *s = sxs_calls_state;
    struct sxs_formatter           *r;
    const struct sxs_calls_event   *before, *e;
    uintptr_t                       sp = sp_of(info);
    COR_PRF_FRAME_INFO              frame = 0;
    COR_PRF_FUNCTION_ARGUMENT_RANGE range = {0, 0};
    size_t                          size = 0;
    int                             err = errno;
    if (!sp)
        return;
    if (s)
        sxs_tails_update(s, sp, 0, now);
    before = s ? s->event : NULL;
    if (sxs_trace_leave(fn, sp, now))
        sxs_tree_leave_slow(fn, sp);
    r = atomic_load_explicit(&fn->formatter, memory_order_acquire);
    e = r ? noted(s, before, fn, SXS_CALLS_LEAVE) : NULL;
    if (e && (r->refused || r->result.element == SXS_ELEMENT_VOID ||
              SUCCEEDED(sxs_info_GetFunctionLeave3Info(fn->rt, (sxs_function){fn->rt, fn->id}, info,
                                                       &frame, &range))))
        size = sxs_formatter_result(r, range, s->text, sizeof(s->text));
    if (size)
        sxs_calls_note_text(s, e, s->text, size);
    if (s)
        sxs_tails_end_chain(s, sp);
    errno = err;
}

void sxs_values_compiled(struct sxs_called *called, sxs_function fn)
{
    struct sxs_formatter *none = NULL, *r;
    if (!called || !called->with_values || atomic_load(&called->formatter))
        return;
    r = sxs_formatter_make(fn);
    if (r && !atomic_compare_exchange_strong(&called->formatter, &none, r))
        free(r); /* another thread was faster */
}
