/* SPDX-License-Identifier: MIT */
/* throws.c - exceptions through hooked frames, with callbacks in the order of 8.0, or of 9.0 and
 * 10.0. */
#include "tests/fake/calls.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))

/* Raises @slot and runs the block of frame @f. During both the profiler may ask for the frame by
 * GetNotifiedExceptionClauseInfo. */
static void enter_block(struct fake_call *f, unsigned slot, uint64_t object)
{
    uintptr_t before = fake_self->clause_sp;
    uint64_t args[] = {ID(f->fn), object};
    fake_self->clause_sp = f->own;
    fake_raise(slot, false, 2, args);
    if (f->run)
        f->run(f);
    fake_self->clause_sp = before;
}

/* First pass. Returns the frame that catches; NULL if the native caller of @last catches. */
static struct fake_call *search(struct fake_call *at, const struct fake_call *last)
{
    for (struct fake_call *f = at;; f = f->caller) {
        FAKE_RAISE(ExceptionSearchFunctionEnter, ID(f->fn));
        if (f->block == FAKE_FILTER) {
            enter_block(f, SXS_SLOT_ExceptionSearchFilterEnter, 0);
            FAKE_RAISE(ExceptionSearchFilterLeave);
        }
        if (f->block == FAKE_CATCH)
            FAKE_RAISE(ExceptionSearchCatcherFound, ID(f->fn));
        if (f->block != FAKE_CATCH && f != last) {
            FAKE_RAISE(ExceptionSearchFunctionLeave);
            continue;
        }
        if (fake.major < 9)
            FAKE_RAISE(ExceptionSearchFunctionLeave);
        else
            FAKE_RAISE(ExceptionUnwindFunctionLeave);
        return f->block == FAKE_CATCH ? f : NULL;
    }
}

static void gone(const struct fake_call *f)
{
    if (atomic_load(&f->fn->hooked))
        atomic_fetch_add(&f->fn->n_unwound, 1);
}

/* Both passes of an exception thrown in @at. @last: the oldest managed frame, called by native
 * code; NULL if a managed frame catches. Afterwards the frames younger than the catching one must
 * return without a leave hook. */
static void throw_from(struct fake_call *at, const struct fake_call *last)
{
    uint64_t object = ID(fake_object_new(fake_work[OUTER]->type));
    atomic_fetch_add(&fake.exceptions, 1);
    FAKE_RAISE(ExceptionThrown, object);
    struct fake_call *catcher = search(at, last), *f = at;
    for (;; f = f->caller) {
        FAKE_RAISE(ExceptionUnwindFunctionEnter, ID(f->fn));
        if (f == catcher)
            break;
        if (f->block == FAKE_FINALLY) {
            enter_block(f, SXS_SLOT_ExceptionUnwindFinallyEnter, 0);
            FAKE_RAISE(ExceptionUnwindFinallyLeave);
        }
        gone(f);
        if (f == last)
            return; /* ExceptionUnwindFunctionLeave is not raised for this frame */
        FAKE_RAISE(ExceptionUnwindFunctionLeave);
    }
    FAKE_RAISE(ExceptionUnwindFunctionLeave);
    catcher->caught = true;
    catcher->block = FAKE_NO_BLOCK;
    enter_block(catcher, SXS_SLOT_ExceptionCatcherEnter, object);
    if (catcher->caught)
        FAKE_RAISE(ExceptionCatcherLeave);
}

/* ---- functions that throw ------------------------------------------------------------------- */

/* Blocks run on top of the stack; the frames that threw are still on it. */
static FAKE_FRAME_FN void in_finally(struct fake_call *self)
{
    (void)self;
    FAKE_ROOT(here);
    fake_call_leaf(&here, fake_work[IN_FINALLY]);
}

static FAKE_FRAME_FN void in_catch(struct fake_call *self)
{
    (void)self;
    FAKE_ROOT(here);
    fake_call_leaf(&here, fake_work[IN_CATCH]);
}

static FAKE_FRAME_FN void throws_in_filter(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[IN_FILTER], below);
    throw_from(&f, &f);
}

static FAKE_FRAME_FN void in_filter(struct fake_call *self)
{
    (void)self;
    FAKE_ROOT(here);
    fake_call_leaf(&here, fake_work[IN_FILTER]);
    throws_in_filter(&here);
}

static FAKE_FRAME_FN void in_catch_again(struct fake_call *self)
{
    FAKE_ROOT(here);
    fake_call_leaf(&here, fake_work[IN_CATCH]);
    self->caught = false;
    throw_from(self, NULL);
}

static FAKE_FRAME_FN void thrower(struct fake_call *below, const struct fake_call *last)
{
    FAKE_CALL(f, fake_work[THROWER], below);
    fake_call_leaf(&f, fake_work[LEAF]);
    throw_from(&f, last);
}

static FAKE_FRAME_FN void inner(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[INNER], below);
    f.block = FAKE_FILTER;
    f.run = in_filter;
    thrower(&f, NULL);
}

/* A function without hooks. Its finally block is reported like any other. */
static FAKE_FRAME_FN void quiet(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[QUIET], below);
    f.block = FAKE_FINALLY;
    f.run = in_finally;
    inner(&f);
}

static FAKE_FRAME_FN void middle(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[MIDDLE], below);
    f.block = FAKE_FINALLY;
    f.run = in_finally;
    quiet(&f);
}

static FAKE_FRAME_FN void rethrows(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[MIDDLE], below);
    f.block = FAKE_CATCH;
    f.run = in_catch_again;
    thrower(&f, NULL);
}

/* A static constructor: native code that calls it replaces its exception by another one. */
static FAKE_FRAME_FN void constructor(struct fake_call *below)
{
    FAKE_CALL(f, fake_work[CCTOR], below);
    thrower(&f, &f);
}

static FAKE_FRAME_FN void outer(struct fake_call *below, unsigned kind)
{
    FAKE_CALL(f, fake_work[OUTER], below);
    f.block = FAKE_CATCH;
    f.run = in_catch;
    if (kind == 0) {
        middle(&f);
    } else if (kind == 1) {
        rethrows(&f);
    } else {
        constructor(&f);
        throw_from(&f, NULL);
    }
    fake_call_leaf(&f, fake_work[NEXT]);
    fake_leave(f.fn, f.sp);
}

void fake_call_throws(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n && fake_thread_attach(); i++)
        outer(below, i % 3);
}

HRESULT fake_GetNotifiedExceptionClauseInfo(ICorProfilerInfo15 *self, COR_PRF_EX_CLAUSE_INFO *info)
{
    (void)self;
    if (!info)
        return E_INVALIDARG;
    memset(info, 0, sizeof(*info));
    if (!fake_self || !fake_self->clause_sp)
        return S_FALSE;
    info->framePointer = fake_self->clause_sp;
    return S_OK;
}
