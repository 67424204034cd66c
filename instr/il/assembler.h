/* SPDX-License-Identifier: MIT */
/** il_assembler.h - what the assembler's files share. */
#ifndef SXS_INSTR_IL_ASSEMBLER_H
#define SXS_INSTR_IL_ASSEMBLER_H

#include "instr/il/assemble.h"
#include "instr/il/internal.h"
#include "instr/il/parse.h"

#define LABEL_LISTS 256 /* found by their names' hashes */

struct label {
    char               *name;
    struct sxs_il_insn *stand; /* stands for what is to come: removed, and its next is it */
    struct label       *alike; /* the next of the same hash */
    struct label       *waiting;
    struct label       *older; /* the one made before it */
    uint8_t             placed;
    uint8_t             meant; /* something goes there; not but a range's end */
};

struct assembler {
    struct sxs_il_body         *body;
    const struct sxs_il_source *source;
    struct sxs_il_fragment     *fragment;
    struct sxs_parser           parser;
    struct label               *lists[LABEL_LISTS];
    struct label               *latest;
    struct label               *waiting; /* placed, and no instruction has come yet */
    char                      **locals;
    uint32_t                    locals_room, clauses_room;
};

static inline struct sxs_lexer *lex(struct assembler *a)
{
    return &a->parser.lex;
}

/** sxs_il_take_label - the label here, which need not stand anywhere yet. @meant: something goes there. NULL: failed. */
struct sxs_il_insn *sxs_il_take_label(struct assembler *a, int meant);

/** sxs_il_take_operand - what follows the opcode of @insn. Returns 0 or a status. */
int sxs_il_take_operand(struct assembler *a, struct sxs_il_insn *insn);

#endif
