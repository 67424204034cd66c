/* SPDX-License-Identifier: MIT */
#include "tools/exceptions/in_flight.h"

#include <string.h>

/* Returns 1 if the fate of @v is decided and its handler runs. */
static int is_landed(const struct sxs_in_flight *v)
{
    return v->fate == SXS_FATE_CAUGHT;
}

/* Removes the youngest exception. Its fate is @fate, unless the fate is already decided. */
static void pop_exception(struct sxs_in_flight_list *f, enum sxs_exception_fate fate)
{
    struct sxs_in_flight *v = &f->all[f->n - 1];
    if (!is_landed(v)) {
        v->fate = (uint8_t)fate;
        f->landed(v);
    }
    f->n--;
}

static enum sxs_exception_fate fate_of_gone(const struct sxs_in_flight *v)
{
    return v->finally_fn ? SXS_FATE_SUPERSEDED : SXS_FATE_NATIVE;
}

/* Removes the exceptions that are over because a new one is thrown at @sp. Code that runs for an
 * exception has a lower SP than the throw, so a throw at a higher SP means that the exception is
 * over. */
static void pop_gone(struct sxs_in_flight_list *f, uintptr_t sp)
{
    while (f->n && f->all[f->n - 1].sp <= sp)
        pop_exception(f, fate_of_gone(&f->all[f->n - 1]));
}

struct sxs_in_flight *sxs_in_flight_throw(struct sxs_in_flight_list *f, unsigned runtime,
                                          uintptr_t sp)
{
    struct sxs_in_flight *v;
    pop_gone(f, sp);
    if (f->n == SXS_IN_FLIGHT_MAX) { /* give up the oldest */
        struct sxs_in_flight *oldest = &f->all[0];
        if (!is_landed(oldest)) {
            oldest->fate = (uint8_t)fate_of_gone(oldest);
            f->landed(oldest);
        }
        f->n--;
        memmove(f->all, f->all + 1, f->n * sizeof(f->all[0]));
    }
    v = &f->all[f->n++];
    memset(v, 0, sizeof(*v));
    v->runtime = runtime;
    v->sp = sp;
    return v;
}

struct sxs_in_flight *sxs_in_flight_current(struct sxs_in_flight_list *f, unsigned runtime,
                                            uintptr_t sp)
{
    struct sxs_in_flight *v;
    /* A callback for an exception means that the handlers of younger exceptions have ended. */
    for (uint32_t i = f->n; i > 0; i--) {
        v = &f->all[i - 1];
        if (is_landed(v) || v->runtime != runtime)
            continue;
        for (uint32_t above = f->n; above > i; above--)
            if (!is_landed(&f->all[above - 1]))
                return NULL; /* another runtime's exception is in flight above */
        f->n = i;
        if (v->sp < sp)
            v->sp = sp;
        return v;
    }
    return NULL;
}

void sxs_in_flight_filter_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (v)
        v->in_filter = 1;
}

void sxs_in_flight_filter_leave(struct sxs_in_flight_list *f, unsigned runtime)
{
    for (uint32_t i = f->n; i > 0; i--) {
        if (!f->all[i - 1].in_filter || f->all[i - 1].runtime != runtime)
            continue;
        while (f->n > i)
            pop_exception(f, SXS_FATE_IN_FILTER);
        f->all[i - 1].in_filter = 0;
        return;
    }
}

void sxs_in_flight_unwind_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp,
                                uint64_t fn)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (!v)
        return;
    v->unwind_fn = fn;
    v->finally_fn = 0;
}

/* Sets the fate NATIVE if a frame was unwound for @v and no catcher was found: the exception leaves
 * to native code. An exception that nobody handles is not unwound by 8.0. Later versions unwind it
 * (SXS_FATE_UNWOUND). */
static void leaves_managed_code(struct sxs_in_flight *v)
{
    if (v->fate == SXS_FATE_SEARCHING)
        v->fate = SXS_FATE_NATIVE;
}

struct sxs_in_flight *sxs_in_flight_unwind_leave(struct sxs_in_flight_list *f, unsigned runtime,
                                                 uintptr_t sp)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (v && !v->unwind_fn && v->fate == SXS_FATE_SEARCHING) {
        /* 9.0 and later: a leave without an enter ends a search without a catcher. The functions
         * are unwound next, for native code that catches the exception and for an unhandled
         * exception alike; no callback tells these apart. */
        v->fate = SXS_FATE_UNWOUND;
        return v;
    }
    if (!v || !v->unwind_fn)
        return v;
    leaves_managed_code(v);
    for (struct sxs_in_flight *below = v; below-- > f->all;) {
        if (below->finally_fn && below->finally_fn == v->unwind_fn && !below->left) {
            below->left = 1;
            break;
        }
    }
    v->unwind_fn = 0;
    return v;
}

void sxs_in_flight_finally_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp,
                                 uint64_t fn)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (!v)
        return;
    v->finally_fn = fn;
    leaves_managed_code(v);
}

void sxs_in_flight_finally_leave(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (v)
        v->finally_fn = 0;
}

/* Removes the exceptions older than @v whose finally block was left by another exception. Returns
 * the new address of @v. */
static struct sxs_in_flight *drop_left(struct sxs_in_flight_list *f, struct sxs_in_flight *v)
{
    uint32_t at = (uint32_t)(v - f->all);
    for (uint32_t i = at; i > 0; i--) {
        struct sxs_in_flight *below = &f->all[i - 1];
        if (!below->left || is_landed(below))
            continue;
        below->fate = SXS_FATE_SUPERSEDED;
        f->landed(below);
        memmove(below, below + 1, (f->n - i) * sizeof(*below));
        f->n--;
        at--;
    }
    return &f->all[at];
}

void sxs_in_flight_catcher_enter(struct sxs_in_flight_list *f, unsigned runtime, uintptr_t sp)
{
    struct sxs_in_flight *v = sxs_in_flight_current(f, runtime, sp);
    if (!v)
        return;
    v = drop_left(f, v);
    v->fate = SXS_FATE_CAUGHT;
    v->finally_fn = v->unwind_fn = 0;
    f->landed(v);
}

void sxs_in_flight_catcher_leave(struct sxs_in_flight_list *f, unsigned runtime)
{
    if (f->n && is_landed(&f->all[f->n - 1]) && f->all[f->n - 1].runtime == runtime)
        f->n--;
}

struct sxs_in_flight *sxs_in_flight_crash(struct sxs_in_flight_list *f, uintptr_t sp, int *known)
{
    struct sxs_in_flight *cause = NULL;
    *known = 1;
    for (uint32_t i = f->n; i > 0; i--) {
        struct sxs_in_flight *v = &f->all[i - 1];
        if (v->in_filter || (v->fate != SXS_FATE_SEARCHING && v->fate != SXS_FATE_UNWOUND))
            continue;
        if (v->fate == SXS_FATE_UNWOUND && !sxs_thrower_is_live(&v->thrower, sp)) {
            /* The frame that threw is gone. 9.0 removes it when the exception reaches native frames,
             * and those may have ended the process, if they could lie below it. */
            *known = *known && v->thrower.slot && v->thrower.slot <= sp;
        } else if (v->finally_fn) {
            v->fate = cause ? SXS_FATE_SUPERSEDED : v->fate;
        } else if (!cause) {
            v->fate = SXS_FATE_UNHANDLED;
            cause = v;
        }
    }
    return cause;
}

void sxs_in_flight_end(struct sxs_in_flight_list *f)
{
    while (f->n)
        pop_exception(f, fate_of_gone(&f->all[f->n - 1]));
}
