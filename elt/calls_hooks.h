/* SPDX-License-Identifier: MIT */
/** calls_hooks.h - the enter, leave and tailcall hooks of the tool calls, written in assembly. Compiled
 *  code calls them. */
#ifndef SXS_ELT_CALLS_HOOKS_H
#define SXS_ELT_CALLS_HOOKS_H

#include "elt/calls_functions.h"

/** sxs_elt_hooks - return the table of hooks, and find out how they save vector registers on this
 *  processor. The index is an enum sxs_calls_mode, SXS_CALLS_TRACE_HOOKS or SXS_CALLS_VALUES_HOOKS.
 *  Static; call it once, before any hook is set. */
const struct sxs_calls_hooks *sxs_elt_hooks(void);

#endif
