/* SPDX-License-Identifier: MIT */
/**
 * unwind_table.h - how the functions of one file are unwound: a copy of its .eh_frame, and where in it
 * each function is described. Rules are found by reading a description when an address is asked for.
 *
 * The copy stays readable when the file is unloaded, and costs some 1 ms for all files of a runtime;
 * turning all of it into rules would cost 40 times as much, most of it for code that never runs.
 */
#ifndef SXS_SAMPLER_UNWIND_TABLE_H
#define SXS_SAMPLER_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/cfi.h"
#include "base/elf_notes.h"

struct sxs_unwind_function {
    uint32_t lo; /* where it begins, in bytes from the table's lo */
    uint32_t at; /* its description, in bytes from the beginning of .eh_frame */
};

/** All addresses are those of the file it was copied from; see bias. */
struct sxs_unwind_table {
    struct sxs_cfi              cfi;       /* of `bytes` */
    uint8_t                    *bytes;     /* owned */
    struct sxs_unwind_function *functions; /* owned, ascending */
    uint32_t                    n_functions;
    uintptr_t                   lo; /* of the code */
    uintptr_t bias; /* of the file: other copies of that file in memory lie elsewhere */
};

/**
 * sxs_unwind_table_make - the table of a file that is mapped and stays mapped meanwhile.
 * Uses the sorted table of .eh_frame_hdr where that is there and sound; otherwise finds the functions by
 * going through .eh_frame. Returns an owned table, an empty one where nothing is described; NULL without
 * memory. Any thread; not for signal handlers.
 */
struct sxs_unwind_table *sxs_unwind_table_make(const struct sxs_elf *elf);
void                     sxs_unwind_table_free(struct sxs_unwind_table *table); /* NULL is fine */

/**
 * sxs_unwind_table_find - the rule for the instruction at @address, which is loaded with bias @bias.
 * Signal-safe; O(log functions) and as long as the function's description, 0.2 to 1 us.
 */
SXS_SIGSAFE struct sxs_rule sxs_unwind_table_find(const struct sxs_unwind_table *table,
                                                  uintptr_t address, uintptr_t bias);

/** sxs_unwind_table_size - bytes of memory it occupies. */
size_t sxs_unwind_table_size(const struct sxs_unwind_table *table);

#endif
