/* SPDX-License-Identifier: MIT */
/** unwind_table.h - one file's rules in address order: made once, never changed, small. */
#ifndef SXS_SAMPLER_UNWIND_TABLE_H
#define SXS_SAMPLER_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "manager/base/base.h"
#include "sampler/cfi.h"
#include "sampler/rule.h"

/**
 * Row i holds for [pcs[i], pcs[i + 1]), in bytes from `lo`; 6 bytes a row: functions share a few
 * thousand different rules, kept once. Position-independent: files with the same build ID share
 * one.
 */
struct sxs_unwind_table {
    uint32_t              n_rows, n_rules;
    uint32_t             *pcs;
    uint16_t             *rule_of;
    struct sxs_rule      *rules;
    struct sxs_cfi_counts counts;
};

/**
 * sxs_unwind_table_make - the table of code at [lo, hi) from @cfi. Returns an owned table; an empty
 * one where nothing is described; NULL without memory. Not for signal handlers.
 */
struct sxs_unwind_table *sxs_unwind_table_make(const struct sxs_cfi *cfi, uintptr_t lo,
                                               uintptr_t hi);
void                     sxs_unwind_table_free(struct sxs_unwind_table *table); /* NULL is fine */

/** sxs_unwind_table_find - the rule at @offset bytes from lo. Signal-safe, O(log rows). */
SXS_SIGSAFE struct sxs_rule sxs_unwind_table_find(const struct sxs_unwind_table *table,
                                                  uint32_t                       offset);

/** sxs_unwind_table_size - bytes of memory it occupies. */
size_t sxs_unwind_table_size(const struct sxs_unwind_table *table);

#endif
