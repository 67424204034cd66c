/* SPDX-License-Identifier: MIT */
/**
 * cfi.h - reads .eh_frame: call frame information in DWARF's encoding, turned into rules.
 *
 * Everything in it is treated as possibly damaged: each read is checked, the first error sticks to
 * the description it lies in, and the code from there on is left without rules.
 */
#ifndef SXS_SAMPLER_CFI_H
#define SXS_SAMPLER_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "stackwalk/fast/rule.h"

/** A copy of the section, and where in the process the original starts (relative pointers). */
struct sxs_cfi {
    const uint8_t *bytes; /* borrowed */
    size_t         size;  /* bytes; what follows the terminating zero length is not looked at */
    uintptr_t      address;
};

/** One row of a description: @rule holds from @from on. */
struct sxs_cfi_row {
    uintptr_t lo, hi;     /* the code that the description is of, half-open; 0, 0: it is damaged */
    uintptr_t from;       /* 0: it has no row there */
    struct sxs_rule rule; /* SXS_RULE_NONE: none, or one that a rule cannot express */
};

/**
 * sxs_cfi_find - the row for the instruction at @pc, in the description at byte @at of @cfi.
 * The description's instructions are run from its beginning up to @pc: some 10 ns each. Signal-safe;
 * 1 KB of stack.
 */
SXS_SIGSAFE struct sxs_cfi_row sxs_cfi_find(const struct sxs_cfi *cfi, size_t at, uintptr_t pc);

/**
 * sxs_cfi_each - calls @on with the place of each description of @cfi and the code it is of, in the
 * section's order; damaged ones, and ones of functions that the linker dropped, are left out. Nonzero
 * from @on stops. Returns what @on returned last, or 0. Any thread.
 */
typedef int sxs_cfi_each_fn(void *user, size_t at, uintptr_t lo, uintptr_t hi);
int         sxs_cfi_each(const struct sxs_cfi *cfi, sxs_cfi_each_fn *on, void *user);

/** sxs_cfi_size - bytes up to and with the terminating zero length, at most @size. */
size_t sxs_cfi_size(const uint8_t *bytes, size_t size);

#endif
