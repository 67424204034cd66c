/* SPDX-License-Identifier: MIT */
#include "elt/calls_hooks.h"

#include <stddef.h>

#include "base/session_state.h"
#include "session/format/calls.h"

void sxs_elt_tree_enter(void);
void sxs_elt_tree_leave(void);
void sxs_elt_trace_enter(void);
void sxs_elt_trace_leave(void);
void sxs_elt_time_enter(void);
void sxs_elt_time_leave(void);
void sxs_elt_tailcall(void);
void sxs_elt_count_enter(void);
void sxs_elt_nothing(void);

/* 1: sxs_elt_slowly() saves vector registers by xsave; 0: by fxsave. */
extern char sxs_elt_xsave;
char        sxs_elt_xsave;
SXS_SESSION_KEEPS(sxs_elt_xsave);

const struct sxs_calls_hooks *sxs_elt_hooks(void)
{
    static const struct sxs_calls_hooks hooks[] = {
        [SXS_CALLS_COUNT] = {sxs_elt_count_enter, sxs_elt_nothing, sxs_elt_nothing},
        [SXS_CALLS_TIME] = {sxs_elt_time_enter, sxs_elt_time_leave, sxs_elt_tailcall},
        [SXS_CALLS_TREE] = {sxs_elt_tree_enter, sxs_elt_tree_leave, sxs_elt_tailcall},
        [SXS_CALLS_TRACE_HOOKS] = {sxs_elt_trace_enter, sxs_elt_trace_leave, sxs_elt_tailcall},
        [SXS_CALLS_VALUES_HOOKS] = {(void (*)(void))sxs_values_enter,
                                    (void (*)(void))sxs_values_leave, NULL},
    };
#if defined(__x86_64__)
    __builtin_cpu_init();
    sxs_elt_xsave = __builtin_cpu_supports("avx") != 0; /* true only if the kernel enabled xsave */
#endif
    return hooks;
}
