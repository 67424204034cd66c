/* SPDX-License-Identifier: MIT */
/** instr/il/fragment.h - insert instructions that were assembled for a body into its list. */
#ifndef SXS_INSTR_IL_FRAGMENT_H
#define SXS_INSTR_IL_FRAGMENT_H

#include "include/sxs_il.h"

/** Instructions that are not in a body's list yet. The body they were made for owns all memory. */
struct sxs_il_fragment {
    struct sxs_il_insn   *first, *last; /* NULL: none */
    struct sxs_il_clause *clauses;
    uint32_t              n_clauses;
    const uint8_t        *locals; /* types of the declared locals, as in signatures, in a row */
    size_t                locals_size; /* bytes */
    uint32_t              n_locals;
    uint8_t               init_locals; /* `init`: the locals must be zero at first */
};

/**
 * sxs_il_insert_fragment - insert the instructions before @at and its prefixes.
 * @at: in the list; NULL: insert at the end.
 * The clauses of the fragment go before all others, because inner clauses must come first. A
 * fragment can be inserted only once: to insert it again, copy it before the first insertion.
 * Returns 0 or SXS_IL_ENOMEM.
 */
int sxs_il_insert_fragment(struct sxs_il_body *body, struct sxs_il_insn *at,
                           const struct sxs_il_fragment *fragment);

/** sxs_il_copy_fragment - copy the instructions and clauses of @from, which must not have been
 *  inserted yet. Both fragments then share the locals. Returns 0 or SXS_IL_ENOMEM. */
int sxs_il_copy_fragment(struct sxs_il_body *body, const struct sxs_il_fragment *from,
                         struct sxs_il_fragment *to);

#endif
