/* SPDX-License-Identifier: MIT */
/** constant.h - IL that pushes a constant of a method's result type. */
#ifndef SXS_INSTR_WEAVE_CONSTANT_H
#define SXS_INSTR_WEAVE_CONSTANT_H

#include "instr/weave/emit.h"

/** sxs_emit_constant - emit IL that pushes @text as a value of the result type of e->m. @text NULL:
 *  the default value of the type. Returns 0, or -1 with m->why when the type has no such value. */
int sxs_emit_constant(struct sxs_emit *e, const char *text);

#endif
