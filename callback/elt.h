/* SPDX-License-Identifier: MIT */
/** elt.h - the hooks that compiled code calls, in assembly. */
#ifndef SXS_CALLBACK_ELT_H
#define SXS_CALLBACK_ELT_H

#include "tools/calls/count.h"

/** By enum sxs_calls_mode, and SXS_CALLS_TRACE_HOOKS.
 *  Finds out what this processor's hooks must save; once, at the start. */
const struct sxs_calls_hooks *sxs_elt_hooks(void);

#endif
