/* SPDX-License-Identifier: MIT */
/** weave.h - what rules say, put into a method's body. */
#ifndef SXS_REWRITE_WEAVE_H
#define SXS_REWRITE_WEAVE_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/** sxs_weave - all actions of @rules, outermost first, into @m, which is open. Returns 0, or -1 (m->why): then
 *  the body is of no use. */
int sxs_weave(struct sxs_method *m, const struct sxs_marker *marker,
              const struct sxs_rule *const *rules, size_t n);

#endif
