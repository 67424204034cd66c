/* SPDX-License-Identifier: MIT */
#include "calls/exceptions.h"

#include <string.h>

#include "calls/beaten.h"

void sxs_calls_unwind_enter(uintptr_t function)
{
    struct sxs_calls_state *s = sxs_calls_state;
    if (!s)
        return;
    if (s->n_unwinding == SXS_CALLS_UNWINDING) { /* the oldest were never spoken of again */
        s->n_unwinding--;
        memmove(s->unwinding, s->unwinding + 1, s->n_unwinding * sizeof(s->unwinding[0]));
    }
    s->unwinding[s->n_unwinding++] = function;
}

void sxs_calls_unwind_leave(void)
{
    struct sxs_calls_state *s = sxs_calls_state;
    uintptr_t               function;
    if (!s || !s->n_unwinding)
        return;
    function = s->unwinding[--s->n_unwinding];
    if (s->top->fn && s->top->fn->id == function)
        drop(s, sxs_tick(), &s->record->unwound);
}

void sxs_calls_catcher_enter(void)
{
    struct sxs_calls_state *s = sxs_calls_state;
    if (s && s->n_unwinding)
        s->n_unwinding--;
}
