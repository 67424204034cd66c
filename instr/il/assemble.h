/* SPDX-License-Identifier: MIT */
/**
 * instr/il/assemble.h - turn text in ilasm's syntax into instructions.
 *
 *     .locals init (int32 n)                  // more locals; n can be used as an operand
 *     ldstr      "hello"
 *     call       void [System.Console]System.Console::WriteLine(string)
 *     ldarg.1
 *     brtrue.s   DONE
 *     ...
 *     DONE: nop
 *     .try L1 to L2 catch [System.Runtime]System.Exception handler L2 to L3
 *
 * One instruction or directive a line; comments begin with `//`. A label after the last instruction
 * gets a nop when a branch goes there or a range begins there. The output of sxs_il_put_body() can
 * be read back.
 */
#ifndef SXS_INSTR_IL_ASSEMBLE_H
#define SXS_INSTR_IL_ASSEMBLE_H

#include "instr/il/fragment.h"
#include "instr/il/source.h"

/**
 * sxs_il_assemble - turn @source into instructions for @body that are not in its list yet.
 * @fragment: receives the instructions; @body owns their memory.
 * @error: its text begins with line and column, from 1; its offset is a byte of the text.
 * Returns 0 or an enum sxs_il_status.
 */
int sxs_il_assemble(struct sxs_il_body *body, const struct sxs_il_source *source,
                    struct sxs_il_fragment *fragment, struct sxs_il_error *error);

#endif
