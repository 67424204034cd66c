/* SPDX-License-Identifier: MIT */
/** inject.h - lines of IL at places of a method. */
#ifndef SXS_REWRITE_INJECT_H
#define SXS_REWRITE_INJECT_H

#include "instr/config/config.h"
#include "instr/weave/method.h"

/** Instructions of the original code that one action's pattern fits. */
struct sxs_spots {
    const struct sxs_action *action;
    struct sxs_il_insn     **all; /* owned; instructions of the body, which may be removed by now */
    size_t                   n;
};

/** sxs_spots_find - for @a with an instruction's pattern, in the body as it was read: before anything is put into
 *  it. Returns 0, or -1 with m->why: it fits none, or names cannot be told. */
int sxs_spots_find(struct sxs_method *m, const struct sxs_action *a, struct sxs_spots *spots);

/** sxs_inject_at_spots - the lines of the action, once for each. Returns 0, or -1 with m->why. */
int sxs_inject_at_spots(struct sxs_method *m, const struct sxs_spots *spots);

/** sxs_inject_lines - @a's lines before @at (NULL: at the end). Returns 0, or -1 with m->why; then m->line and
 *  m->column tell where in its file. */
int sxs_inject_lines(struct sxs_method *m, const struct sxs_action *a, struct sxs_il_insn *at);

/** sxs_inject_at_offset - the same at a->offset. */
int sxs_inject_at_offset(struct sxs_method *m, const struct sxs_action *a);

#endif
