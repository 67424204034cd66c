/* SPDX-License-Identifier: MIT */
/** inject.h - inserts a rule's lines of IL into a method. */
#ifndef SXS_INSTR_WEAVE_INJECT_H
#define SXS_INSTR_WEAVE_INJECT_H

#include "instr/config/config.h"
#include "instr/weave/method.h"

/** The instructions of the original code that match one action's pattern. */
struct sxs_spots {
    const struct sxs_action *action;
    struct sxs_il_insn **all; /* owned array; an instruction may be removed from the body later */
    size_t               n;
};

/**
 * sxs_spots_find - find the instructions that match the instruction pattern of @a.
 * Must be called before anything is inserted into the body.
 * Returns 0, or -1 with m->why when no instruction matches, or when the names in instructions are
 * not known because the assembly's file cannot be read. The caller frees spots->all in both cases.
 */
int sxs_spots_find(struct sxs_method *m, const struct sxs_action *a, struct sxs_spots *spots);

/** sxs_inject_at_spots - insert the action's lines at each of @spots. Returns 0, or -1 with
 *  m->why. */
int sxs_inject_at_spots(struct sxs_method *m, const struct sxs_spots *spots);

/** sxs_inject_lines - insert the lines of @a before @at. NULL: at the end. Returns 0, or -1 with
 *  m->why; for an error in a line, m->line and m->column are its place in the rule's file. */
int sxs_inject_lines(struct sxs_method *m, const struct sxs_action *a, struct sxs_il_insn *at);

/** sxs_inject_at_offset - do the same at a->offset of the original code, before or after the
 *  instruction. */
int sxs_inject_at_offset(struct sxs_method *m, const struct sxs_action *a);

#endif
