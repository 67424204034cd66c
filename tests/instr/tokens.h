/* SPDX-License-Identifier: MIT */
/** tokens.h - finds the tokens of an assembly by their meaning for the assembler, in place of a runtime. */
#ifndef SXS_TESTS_INSTR_TOKENS_H
#define SXS_TESTS_INSTR_TOKENS_H

#include "instr/il/assemble.h"
#include "instr/metadata/metadata.h"

struct tokens; /* owned */

/** tokens_new - collect the tokens of @md, which must outlive the result. Exits when there is no memory. */
struct tokens *tokens_new(const struct sxs_metadata *md);
void           tokens_free(struct tokens *t);

/** tokens_ask - return callbacks for the assembler. They make no new tokens: unknown ones are an error. */
struct sxs_il_tokens tokens_ask(struct tokens *t);

#endif
