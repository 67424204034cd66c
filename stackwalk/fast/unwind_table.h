/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/unwind_table.h - the unwind information of one file: a copy of its .eh_frame,
 * and a sorted list that says where each function is described in it. A rule is made from the
 * description when an address is looked up.
 *
 * The copy stays readable when the file is unloaded. Copying costs some 1 ms for all files of a
 * runtime. Turning everything into rules beforehand would cost 40 times as much, mostly for code
 * that never runs. */
#ifndef SXS_STACKWALK_FAST_UNWIND_TABLE_H
#define SXS_STACKWALK_FAST_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/cfi.h"
#include "base/elf_notes.h"

struct sxs_unwind_function {
    uint32_t lo; /* start of the function, in bytes from the table's lo */
    uint32_t at; /* offset of its description in .eh_frame, in bytes */
};

/**
 * The unwind table of a file. Addresses in it are those of the loaded file it was copied from
 * (see bias). */
struct sxs_unwind_table {
    struct sxs_cfi              cfi;       /* describes the copy in `bytes` */
    uint8_t                    *bytes;     /* owned */
    struct sxs_unwind_function *functions; /* owned; sorted by lo */
    uint32_t                    n_functions;
    uintptr_t                   lo; /* start of the file's code */
    /* Load bias of the file when it was copied. The same file loaded elsewhere has another bias. */
    uintptr_t bias;
};

/**
 * sxs_unwind_table_make - make the table of a file, which must stay mapped during the call.
 * Uses the sorted list of functions in .eh_frame_hdr if there is a valid one; otherwise goes
 * through .eh_frame to find the functions. Returns an owned table, which is empty if the file
 * describes nothing, or NULL when memory ran out. Any thread; not in signal handlers. */
struct sxs_unwind_table *sxs_unwind_table_make(const struct sxs_elf *elf);
/* NULL is allowed */
void                     sxs_unwind_table_free(struct sxs_unwind_table *table);

/**
 * sxs_unwind_table_find - find the rule for the instruction at @address.
 * @bias: load bias of the file that contains @address.
 * Signal-safe. O(log functions), plus the time to execute the function's description: 0.2 to 1
 * us. */
SXS_SIGSAFE struct sxs_unwind_rule sxs_unwind_table_find(const struct sxs_unwind_table *table,
                                                         uintptr_t address, uintptr_t bias);

/**
 * sxs_unwind_table_description - find the description (FDE) of the function that contains @address.
 * @bias: as for sxs_unwind_table_find().
 * @start: receives the address of the function's first instruction.
 * @description: receives the address of the description in the loaded file, whose copy is in
 *   table->cfi.
 * Returns 1, or 0 when no function begins at or before @address. Signal-safe. */
SXS_SIGSAFE int sxs_unwind_table_description(const struct sxs_unwind_table *table,
                                             uintptr_t address, uintptr_t bias, uintptr_t *start,
                                             uintptr_t *description);

/** sxs_unwind_table_size - memory used by the table, in bytes. */
size_t sxs_unwind_table_size(const struct sxs_unwind_table *table);

#endif
