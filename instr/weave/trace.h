/* SPDX-License-Identifier: MIT */
/** trace.h - IL for the action `trace`: each call, with the values that the rule asks for. */
#ifndef SXS_INSTR_WEAVE_TRACE_H
#define SXS_INSTR_WEAVE_TRACE_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** sxs_trace - add the action @a around the present body of @m. Returns 0, or -1 with m->why. */
int sxs_trace(struct sxs_method *m, const struct sxs_marker *marker, const struct sxs_action *a);

#endif
