/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/tables.h - the unwind tables of all ELF files in the process, readable in
 * signal handlers.
 *
 * The index of files is immutable and is replaced as a whole. Readers are counted while they use
 * an index. A replaced index is freed by a later refresh that finds no readers. Readers never
 * wait, whatever code they interrupted. */
#ifndef SXS_STACKWALK_FAST_TABLES_H
#define SXS_STACKWALK_FAST_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/rule.h"

struct sxs_unwind_table;

/** One mapped file. */
struct sxs_module {
    uintptr_t                      lo, hi; /* executable addresses, half-open */
    uintptr_t                      bias;
    const struct sxs_unwind_table *table; /* borrowed; shared by all copies of the file */
};

struct sxs_tables_stats {
    size_t n_modules, n_tables; /* files with the same build ID share one table */
    size_t n_functions;
    size_t size;      /* bytes of all tables */
    size_t n_retired; /* replaced indexes that are not freed yet */
};

/**
 * sxs_tables_refresh - find the files that are loaded now and make tables for new ones.
 * Returns 1 if anything changed, 0 if not, or -1 when memory ran out (then the previous index
 * stays in use). Takes the loader's lock and allocates: any thread, but never in a signal
 * handler. 0.3 us when nothing changed; some 1 ms for the files of a runtime. */
int sxs_tables_refresh(void);

/** sxs_tables_forget - free all tables, until the next sxs_tables_refresh(). Walks that are going on
 *  keep theirs until a later call of that. Any thread; not signal-safe. */
void sxs_tables_forget(void);

/** sxs_tables_stats - sizes of the index and the tables. Not signal-safe. */
void sxs_tables_stats(struct sxs_tables_stats *out);

struct sxs_file_index; /* borrowed between sxs_tables_enter() and sxs_tables_leave() */

/**
 * sxs_tables_enter, sxs_tables_leave - must enclose every use of an index. Calls may nest.
 * Signal-safe; the pair costs two atomic operations. */
SXS_SIGSAFE const struct sxs_file_index *sxs_tables_enter(void);
SXS_SIGSAFE void                         sxs_tables_leave(void);

/**
 * sxs_tables_generation - a number that changes with every new index. @index may be NULL.
 * Signal-safe. */
SXS_SIGSAFE unsigned sxs_tables_generation(const struct sxs_file_index *index);

/**
 * sxs_tables_find - find the file whose code contains @address.
 * Returns NULL if there is none or @index is NULL. Borrowed until sxs_tables_leave().
 * Signal-safe, O(log files). */
SXS_SIGSAFE const struct sxs_module *sxs_tables_find(const struct sxs_file_index *index,
                                                     uintptr_t                    address);

/** sxs_tables_rule - the rule at @address, which lies in @module. Signal-safe; 0.2 to 1 us. */
SXS_SIGSAFE struct sxs_unwind_rule sxs_tables_rule(const struct sxs_module *module,
                                                   uintptr_t                address);

#endif
