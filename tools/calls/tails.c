/* SPDX-License-Identifier: MIT */
#include "tools/calls/tails.h"

#include <pthread.h>
#include <string.h>

#include "arch/arch.h"
#include "base/fork.h"
#include "base/session_state.h"
#include "tools/calls/fast_path.h"

#define NEAR (UINT64_C(1) << 20) /* bytes: a hook's frame and a caller's frame; more: do not read */

static void add_one(_Atomic uint32_t *counter)
{
    if (atomic_load_explicit(counter, memory_order_relaxed) != UINT32_MAX)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Returns the return address of the call with the caller's stack pointer @sp; 0: not known. */
static uintptr_t return_address(uintptr_t sp)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return sp > here && sp - here < NEAR && !(sp & 7) ? *(const uintptr_t *)(sp - 8) : 0;
}

/* ---- stubs ------------------------------------------------------------------------------------ */

#define MAX_STUBS 1024u

/* The code of the stubs. Only added to: the runtimes keep these stubs. */
static struct {
    _Atomic uint32_t n; /* counts entries that are complete; written by one thread at a time */
    struct {
        uintptr_t start, end;
    } all[MAX_STUBS];
    pthread_mutex_t lock; /* held while an entry is added */
} stubs = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(stubs.lock);
SXS_SESSION_KEEPS(stubs);

void sxs_tails_add_stub(sxs_function stub, const char *name)
{
    COR_PRF_CODE_INFO code[4];
    ULONG32           n = 0;
    uint32_t          at;
    if (!strstr(name, "IL_STUB_CallTailCallTarget") ||
        FAILED(sxs_info_GetCodeInfo2(stub.rt, stub, ARRAY_LEN(code), &n, code)))
        return;
    pthread_mutex_lock(&stubs.lock);
    at = atomic_load(&stubs.n);
    for (uint32_t i = 0; i < n && i < ARRAY_LEN(code) && at < MAX_STUBS; i++, at++) {
        stubs.all[at].start = code[i].startAddress;
        stubs.all[at].end = code[i].startAddress + code[i].size;
    }
    atomic_store_explicit(&stubs.n, at, memory_order_release);
    pthread_mutex_unlock(&stubs.lock);
}

static int is_in_stub(uintptr_t ip)
{
    uint32_t n = atomic_load_explicit(&stubs.n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (ip > stubs.all[i].start && ip <= stubs.all[i].end)
            return 1;
    return 0;
}

/* ---- frames that were left -------------------------------------------------------------------- */

/* Ends the youngest call, which was left by a tail call. @late: 1: no hook saw its callee return. */
static void end_left(struct sxs_calls_state *s, uint64_t now, int late)
{
    static const char             text[] = "<?: left by a tail call>";
    struct sxs_called            *fn = s->top->fn;
    const struct sxs_calls_event *before = s->event;
    if (late)
        add_one(&fn->record->tail_late);
    sxs_calls_end_top(s, now);
    if (s->event != before && atomic_load_explicit(&fn->formatter, memory_order_relaxed))
        sxs_calls_note_text(s, s->event - 1, text, sizeof(text) - 1);
}

static void mark_left(struct sxs_calls_frame *f)
{
    if (!f->start)
        f->start = f->began;
    f->from = return_address(f->sp);
    f->sp -= 2;
    add_one(&f->fn->record->tail_left);
}

/* Ends the calls from the youngest frame down to @from, because the function of @from is called
 * again. */
static void end_round(struct sxs_calls_state *s, const struct sxs_calls_frame *from)
{
    uint64_t now = sxs_tick();
    while (s->top >= from) {
        add_one(&s->top->fn->record->tail_looped);
        end_left(s, now, 0);
    }
}

/* The youngest frame was left by a dispatched tail call. Returns 1 when the dispatcher that makes it
 * still runs, and has called @fn. */
static int is_dispatched(struct sxs_calls_state *s, const struct sxs_called *fn, uintptr_t sp)
{
    const struct sxs_calls_frame *f = s->top, *again = NULL;
    for (; is_left(f); f--)
        if (f->fn == fn)
            again = f;
    if (!is_dispatcher(f->fn) || f->sp <= sp)
        return 0;
    if (again)
        end_round(s, again);
    return 1;
}

/* The youngest frame was left by a fast tail call. Returns 1 when it was a call of @fn. */
static int is_jumped_to(struct sxs_calls_state *s, const struct sxs_called *fn, uintptr_t sp)
{
    const struct sxs_calls_frame *f = s->top, *again = NULL;
    uintptr_t                     left = f->sp;
    if (sp != left + 2 || f->from != return_address(sp))
        return 0;
    for (; f->sp == left; f--)
        if (f->fn == fn)
            again = f;
    if (again)
        end_round(s, again);
    return 1;
}

enum sxs_tails_entry sxs_tails_enter(struct sxs_calls_state *s, const struct sxs_called *fn,
                                     uintptr_t sp)
{
    for (;;) {
        const struct sxs_calls_frame *f = s->top;
        if (!is_left(f)) {
            if (f->sp > sp)
                return SXS_TAILS_NONE;
            drop(s, sxs_tick(), &s->record->stale);
        } else if (f->sp == SXS_TAILS_DISPATCHED) {
            if (is_dispatched(s, fn, sp)) {
                add_one(&fn->record->tail_called);
                return SXS_TAILS_DISPATCH;
            }
            end_left(s, sxs_tick(), 1);
        } else if (f->sp > sp) {
            return SXS_TAILS_NONE; /* by a callee without hooks */
        } else if (is_jumped_to(s, fn, sp)) {
            add_one(&fn->record->tail_called);
            return is_left(s->top) && s->top->sp != SXS_TAILS_DISPATCHED ? SXS_TAILS_FAST
                   : is_left(s->top)                                     ? SXS_TAILS_DISPATCH
                                                                         : SXS_TAILS_NONE;
        } else {
            end_left(s, sxs_tick(), 1);
        }
    }
}

/* ---- hooks ------------------------------------------------------------------------------------ */

void sxs_tails_push_dispatcher(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp,
                               uintptr_t first)
{
    if (s->top == s->limit && sxs_calls_more_frames(s))
        return;
    s->top++;
    *s->top = (struct sxs_calls_frame){.sp = sp, .node = s->top[-1].node, .fn = fn, .from = first};
}

/* The dispatcher leaves. Its caller makes a dispatched tail call of its own when a stub of the
 * dispatcher has called it: then this dispatcher has called nothing. */
static void dispatcher_leaves(struct sxs_calls_state *s)
{
    uintptr_t               slot = s->top->from;
    struct sxs_calls_frame *f = s->top - 1;
    pass_on(s->top);
    s->top = f;
    if (!f->fn || is_left(f) || (f->sp & 1) || is_dispatcher(f->fn) || (slot && f->sp - 8 != slot) ||
        !is_in_stub(return_address(f->sp)))
        return;
    if (f->start) {
        f->began = f->start;
        f->start = 0;
    }
    if (f->began)
        f->how = SXS_TAILS_DISPATCHES;
}

void sxs_tails_end_chain(struct sxs_calls_state *s, uintptr_t sp)
{
    while (is_left(s->top) && s->top->sp == sp - 2)
        end_left(s, s->now, 0);
}

int sxs_tails_leave(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_frame *f;
    /* A dispatcher's chain of calls ends with the dispatcher. */
    while (is_left(s->top) && (s->top->sp == SXS_TAILS_DISPATCHED || s->top->sp < sp + 2))
        end_left(s, s->now, s->top->sp != SXS_TAILS_DISPATCHED || !is_dispatcher(fn));
    if (!matches(s, fn, sp))
        return 1;
    f = s->top;
    if (is_dispatcher(fn)) {
        dispatcher_leaves(s);
        return 1;
    }
    if (f->start || !f->began)
        return 0;
    if (f->how == SXS_TAILS_DISPATCHES) {
        add_one(&fn->record->tail_left);
        f->start = f->began;
        f->sp = SXS_TAILS_DISPATCHED;
        return 1;
    }
    sxs_calls_end_top(s, s->now);
    if (!atomic_load_explicit(&fn->formatter, memory_order_relaxed))
        sxs_tails_end_chain(s, sp);
    return 1;
}

void sxs_tails_left(struct sxs_called *fn, uintptr_t sp)
{
    struct sxs_calls_state *s = sxs_calls_state;
    uint64_t                now = sxs_tick();
    if (!s || is_dispatcher(fn))
        return;
    /* Calls that were left before, and not by a tail call of this call. */
    while (is_left(s->top) && s->top->sp != SXS_TAILS_DISPATCHED && s->top->sp < sp)
        end_left(s, now, 1);
    if (matches(s, fn, sp))
        mark_left(s->top);
}

void sxs_tails_entered(struct sxs_calls_state *s, uintptr_t sp)
{
    if (s->top->sp == sp && !is_dispatcher(s->top->fn))
        s->top->from = return_address(sp);
}

void sxs_tails_update(struct sxs_calls_state *s, uintptr_t sp, int enters, uint64_t now)
{
    for (;;) {
        struct sxs_calls_frame *f = s->top;
        if (is_left(f) || (f->sp & 1) || !f->fn || is_dispatcher(f->fn) ||
            f->sp >= sp + (enters ? 1 : 0))
            return; /* the youngest frame is not one that a tail call without a hook has left */
        if (enters && f->sp == sp && f->from && f->from == return_address(sp)) {
            mark_left(f);
            return;
        }
        add_one(&f->fn->record->tail_left);
        end_left(s, now, 1);
    }
}
