/* SPDX-License-Identifier: MIT */
/** constant.h - a constant of a method's result type. */
#ifndef SXS_REWRITE_CONSTANT_H
#define SXS_REWRITE_CONSTANT_H

#include "instr/weave/emit.h"

/** sxs_emit_constant - @text (NULL: the type's default) as a value of e->m's result type, on the stack. Returns 0, or
 *  -1 with m->why: no such value. */
int sxs_emit_constant(struct sxs_emit *e, const char *text);

#endif
