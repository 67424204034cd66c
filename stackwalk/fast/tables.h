/* SPDX-License-Identifier: MIT */
/**
 * tables.h - the unwind tables of every ELF file in the process, for readers in signal handlers.
 *
 * The index of files is immutable and replaced as a whole. A reader announces itself while it holds
 * an index; what was replaced is freed by a later refresh that finds no reader at all. Readers wait
 * for nobody, whatever they interrupted.
 */
#ifndef SXS_SAMPLER_TABLES_H
#define SXS_SAMPLER_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/rule.h"

struct sxs_unwind_table;

/** One mapped file. */
struct sxs_module {
    uintptr_t                      lo, hi; /* executable addresses, half-open */
    uintptr_t                      bias;
    const struct sxs_unwind_table *table; /* borrowed; shared by copies of the file */
};

struct sxs_tables_stats {
    size_t n_modules, n_tables; /* tables are shared by files with the same build ID */
    size_t n_functions;
    size_t size;      /* bytes of all tables */
    size_t n_retired; /* indexes waiting to be freed */
};

/**
 * sxs_tables_refresh - looks which files are loaded now and makes tables for new ones.
 * Returns 1 if anything changed, 0 if not, -1 without memory (what was known stays in force). Takes
 * the loader's lock and allocates: any thread, never a signal handler. 0.3 us when nothing changed; some
 * 1 ms for the files of a runtime.
 */
int sxs_tables_refresh(void);

/** sxs_tables_stats - what refresh has built so far. Not signal-safe. */
void sxs_tables_stats(struct sxs_tables_stats *out);

struct sxs_index; /* borrowed between enter and leave */

/** sxs_tables_enter, _leave - around every use of an index. Signal-safe, nest, cost two atomics. */
SXS_SIGSAFE const struct sxs_index *sxs_tables_enter(void);
SXS_SIGSAFE void                    sxs_tables_leave(void);

/** sxs_tables_generation - changes whenever the index does. @index may be NULL. Signal-safe. */
SXS_SIGSAFE unsigned sxs_tables_generation(const struct sxs_index *index);

/**
 * sxs_tables_find - the file whose code contains @address; NULL if none does, or @index is NULL.
 * Borrowed until sxs_tables_leave(). Signal-safe, O(log files).
 */
SXS_SIGSAFE const struct sxs_module *sxs_tables_find(const struct sxs_index *index,
                                                     uintptr_t               address);

/** sxs_tables_rule - the rule at @address of @module. Signal-safe; 0.2 to 1 us. */
SXS_SIGSAFE struct sxs_rule sxs_tables_rule(const struct sxs_module *module, uintptr_t address);

#endif
