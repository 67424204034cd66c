/* SPDX-License-Identifier: MIT */
/** call.h - IL for actions that call a function: before, after, wrap, and replace by a call's
 *  result. */
#ifndef SXS_INSTR_WEAVE_CALL_H
#define SXS_INSTR_WEAVE_CALL_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** Add the calls of the action @a to the body of @m. Each returns 0, or -1 with m->why. */
int sxs_call_before(struct sxs_method *m, const struct sxs_marker *marker,
                    const struct sxs_action *a);
int sxs_call_after(struct sxs_method *m, const struct sxs_marker *marker,
                   const struct sxs_action *a);
int sxs_call_wrap(struct sxs_method *m, const struct sxs_marker *marker,
                  const struct sxs_action *a);

/** sxs_call_replace - insert a call before @at that puts its result into the result local of @m.
 *  The evaluation stack must be empty at @at. Returns 0, or -1 with m->why. */
int sxs_call_replace(struct sxs_method *m, const struct sxs_marker *marker,
                     const struct sxs_action *a, struct sxs_il_insn *at);

#endif
