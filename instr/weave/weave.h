/* SPDX-License-Identifier: MIT */
/** weave.h - applies the actions of rules to a method's body. */
#ifndef SXS_INSTR_WEAVE_WEAVE_H
#define SXS_INSTR_WEAVE_WEAVE_H

#include "instr/config/config.h"
#include "instr/weave/callouts.h"
#include "instr/weave/method.h"

/**
 * sxs_weave - apply all actions of @rules to the open method @m.
 * @rules: @n rules, the outermost first.
 * Returns 0, or -1 with m->why: then the body must not be used.
 */
int sxs_weave(struct sxs_method *m, const struct sxs_marker *marker,
              const struct sxs_rule *const *rules, size_t n);

#endif
