/* SPDX-License-Identifier: MIT */
/** instr/il/assembler.h - the state of the assembler, shared by its files. */
#ifndef SXS_INSTR_IL_ASSEMBLER_H
#define SXS_INSTR_IL_ASSEMBLER_H

#include "instr/il/fragment.h"
#include "instr/il/internal.h"
#include "instr/il/parse.h"

#define LABEL_LISTS \
    256 /* buckets of the hash table of labels: the IL library does not contain base/index.c */

struct label {
    char               *name;
    struct sxs_il_insn *stand;   /* marked as removed, so that it means the labelled instruction */
    struct label       *alike;   /* next label in the same bucket */
    struct label       *waiting; /* next label in the assembler's list `waiting` */
    struct label       *older;   /* the label created before this one */
    uint8_t             placed;  /* its definition, `NAME:`, was read */
    uint8_t             meant;   /* a branch goes to it, or a range begins at it */
};

struct assembler {
    struct sxs_il_body         *body;
    const struct sxs_il_source *source;
    struct sxs_il_fragment     *fragment;
    struct sxs_parser           parser;
    struct label               *lists[LABEL_LISTS];
    struct label               *latest;  /* the label created last */
    struct label               *waiting; /* placed labels that no instruction follows yet */
    char                      **locals;  /* names; NULL for locals without a name */
    uint32_t                    locals_room, clauses_room;
};

static inline struct sxs_lexer *lexer_of(struct assembler *a)
{
    return &a->parser.lex;
}

/** sxs_il_take_label - read a reference to a label, which may be defined later in the text.
 *  @meant: nonzero when a branch goes to the label or a range begins there; 0 for a range's end.
 *  Returns the label's stand-in instruction, or NULL after an error. */
struct sxs_il_insn *sxs_il_take_label(struct assembler *a, int meant);

/** sxs_il_take_operand - read the operand of @insn. Returns 0 or an enum sxs_il_status. */
int sxs_il_take_operand(struct assembler *a, struct sxs_il_insn *insn);

#endif
