/* SPDX-License-Identifier: MIT */
#include "symbols/early_il.h"

#include <string.h>

#include "include/sxs_il.h"

#define FAT_HEADER      12u    /* size of the header, bytes */
#define FAT_CODE_SIZE   4u     /* offset of the code size in the header, bytes */
#define OPTIMIZED_BYTES 60000u /* largest code size that the JIT optimizes, bytes */

/* Whether the instruction at @offset is in a block that handles or filters exceptions. */
static int is_in_handler(const struct sxs_il_body *body, uint32_t offset)
{
    for (uint32_t i = 0; i < body->n_clauses; i++) {
        const struct sxs_il_clause *c = &body->clauses[i];
        const struct sxs_il_insn   *from = c->filter_first ? c->filter_first : c->handler_first;
        if (offset >= from->old_offset && offset <= c->handler_last->old_offset)
            return 1;
    }
    return 0;
}

struct il_features {
    int loops, handler_loops, stackalloc, tail;
};

static void look_at_jump(const struct sxs_il_body *body, uint32_t from, uint32_t to,
                         struct il_features *out)
{
    if (to > from)
        return;
    out->loops = 1;
    out->handler_loops |= is_in_handler(body, to);
}

static void look_at(const struct sxs_il_body *body, const struct sxs_il_insn *insn,
                    struct il_features *out)
{
    switch (sxs_il_opcodes[insn->opcode].operand) {
    case SXS_IL_OPERAND_BRANCH1:
    case SXS_IL_OPERAND_BRANCH4:
        look_at_jump(body, insn->old_offset, insn->target->old_offset, out);
        break;
    case SXS_IL_OPERAND_SWITCH:
        for (uint32_t i = 0; i < insn->targets->n; i++)
            look_at_jump(body, insn->old_offset, insn->targets->targets[i]->old_offset, out);
        break;
    default:
        out->stackalloc |= insn->opcode == SXS_IL_LOCALLOC;
        out->tail |= insn->opcode == SXS_IL_TAILCALL;
        break;
    }
}

static enum sxs_code_tier tier_of(const struct sxs_il_body *body)
{
    struct il_features found = {0};
    for (const struct sxs_il_insn *insn = body->first; insn; insn = insn->next)
        look_at(body, insn, &found);
    if (found.tail)
        return SXS_TIER_UNKNOWN;
    return (found.loops && found.stackalloc) || found.handler_loops ? SXS_TIER_OPTIMIZED
                                                                    : SXS_TIER_0;
}

enum sxs_code_tier sxs_early_il_tier(const uint8_t *il, size_t size)
{
    struct sxs_il_body *body = sxs_il_new();
    enum sxs_code_tier  tier = SXS_TIER_UNKNOWN;
    if (body && sxs_il_read(body, il, size, NULL) == SXS_IL_OK)
        tier = tier_of(body);
    sxs_il_free(body);
    return tier;
}

int sxs_early_il_is_large(const uint8_t *il, size_t size)
{
    uint32_t code_size;
    if (size < FAT_HEADER || (il[0] & 3) != 3)
        return 0;
    memcpy(&code_size, il + FAT_CODE_SIZE, sizeof(code_size));
    return code_size > OPTIMIZED_BYTES;
}
