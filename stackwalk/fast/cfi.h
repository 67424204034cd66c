/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/cfi.h - reads .eh_frame (call frame information in DWARF's encoding) and turns
 * it into unwind rules.
 *
 * A "description" is one FDE: the unwind information of one function. The section is treated as
 * possibly damaged: each read is checked. After the first error in a description, the code from
 * there on has no rules. */
#ifndef SXS_STACKWALK_FAST_CFI_H
#define SXS_STACKWALK_FAST_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/rule.h"

/**
 * A copy of an .eh_frame section. `address` is where the original section starts in the process;
 * relative pointers are resolved with it. */
struct sxs_cfi {
    const uint8_t *bytes; /* borrowed */
    size_t         size;  /* bytes; data after the terminating zero length is ignored */
    uintptr_t      address;
};

/** The beginning of .eh_frame_hdr: three encodings, the address of .eh_frame, and the number of functions.
 *  After it follow, for each function, its start and its description, sorted by the start. */
struct sxs_cfi_list {
    uint8_t  version, eh_frame_encoding, count_encoding, table_encoding;
    int32_t  eh_frame;
    uint32_t n;
};

/** sxs_cfi_list_is_known - return true when starts and descriptions have 4 bytes each and are relative to the
 *  section, as all linkers write them. Signal-safe. */
SXS_SIGSAFE static inline bool sxs_cfi_list_is_known(const struct sxs_cfi_list *list)
{
    enum { UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
    return list->version == 1 && list->count_encoding == UDATA4 &&
           list->table_encoding == DATAREL_SDATA4;
}

/** One row of a description: @rule holds from address @from on. */
struct sxs_cfi_row {
    /* The code range that the description covers, half-open. Both 0: the description is damaged. */
    uintptr_t lo, hi;
    uintptr_t from;       /* 0: the description has no row for the address */
    struct sxs_unwind_rule
        rule; /* SXS_RULE_NONE: no rule, or one that struct sxs_unwind_rule cannot express */
};

/**
 * sxs_cfi_find - find the row for the instruction at @pc.
 * @at: offset of the description in @cfi, bytes.
 * Executes the description's instructions from its beginning up to @pc, some 10 ns each.
 * Signal-safe; uses 1 KB of stack. */
SXS_SIGSAFE struct sxs_cfi_row sxs_cfi_find(const struct sxs_cfi *cfi, size_t at, uintptr_t pc);

/**
 * sxs_cfi_find_apart - as sxs_cfi_find(), with copies of two entries of the section: of a
 * description @fde and of the CIE that it refers to. The address of each is where the original
 * starts. Signal-safe; uses 1 KB of stack. */
SXS_SIGSAFE struct sxs_cfi_row sxs_cfi_find_apart(const struct sxs_cfi *cie,
                                                  const struct sxs_cfi *fde, uintptr_t pc);

/**
 * sxs_cfi_each - call @on for each description in @cfi, in the section's order.
 * @on: receives the offset of the description and the code range it covers. Nonzero stops the
 *   iteration.
 * Damaged descriptions, and descriptions of functions that the linker dropped, are skipped.
 * Returns the last result of @on, or 0. Any thread. */
typedef int sxs_cfi_each_fn(void *user, size_t at, uintptr_t lo, uintptr_t hi);
int         sxs_cfi_each(const struct sxs_cfi *cfi, sxs_cfi_each_fn *on, void *user);

/**
 * sxs_cfi_size - the size of the section in bytes, including the terminating zero length; at
 * most @size. */
size_t sxs_cfi_size(const uint8_t *bytes, size_t size);

#endif
