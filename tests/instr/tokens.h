/* SPDX-License-Identifier: MIT */
/** tokens.h - the tokens an assembly has, found by what they stand for: what the assembler asks of a runtime. */
#ifndef SXS_TESTS_INSTR_TOKENS_H
#define SXS_TESTS_INSTR_TOKENS_H

#include "instr/il/assemble.h"
#include "instr/metadata/metadata.h"

struct tokens; /* owned */

/** tokens_new - of @md, which outlives it. Exits when there is no memory. */
struct tokens *tokens_new(const struct sxs_metadata *md);
void           tokens_free(struct tokens *t);

/** tokens_ask - to hand to the assembler. Nothing new is made: what the assembly lacks is refused. */
struct sxs_il_tokens tokens_ask(struct tokens *t);

#endif
