/* SPDX-License-Identifier: MIT */
/** call.h - actions that call: before, after, wrap, and a result from a call. */
#ifndef SXS_REWRITE_CALL_H
#define SXS_REWRITE_CALL_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** Each returns 0, or -1 with m->why. */
int sxs_call_before(struct sxs_method *m, const struct sxs_marker *marker,
                    const struct sxs_action *a);
int sxs_call_after(struct sxs_method *m, const struct sxs_marker *marker,
                   const struct sxs_action *a);
int sxs_call_wrap(struct sxs_method *m, const struct sxs_marker *marker,
                  const struct sxs_action *a);

/** sxs_call_replace - at @at, where the stack is empty: the result local becomes what is called returns. */
int sxs_call_replace(struct sxs_method *m, const struct sxs_marker *marker,
                     const struct sxs_action *a, struct sxs_il_insn *at);

#endif
