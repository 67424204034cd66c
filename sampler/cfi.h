/* SPDX-License-Identifier: MIT */
/**
 * cfi.h - reads .eh_frame: call frame information in DWARF's encoding, turned into rules.
 *
 * Everything in it is treated as possibly damaged: each read is checked, the first error sticks to
 * the description it lies in and that code is left without rules.
 */
#ifndef SXS_SAMPLER_CFI_H
#define SXS_SAMPLER_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/rule.h"

/** A copy of the section, and where in the process the original starts (relative pointers). */
struct sxs_cfi {
    const uint8_t *bytes; /* borrowed */
    size_t         size;  /* bytes; what follows the terminating zero length is not looked at */
    uintptr_t      address;
};

/** Receives the rows of one description in ascending order: @rule holds from @pc up to the next. */
struct sxs_cfi_sink {
    int (*function)(void *user, uintptr_t lo, uintptr_t hi);           /* starts a description */
    int (*row)(void *user, uintptr_t pc, const struct sxs_rule *rule); /* nonzero: stop, -1 */
    void *user;
};

/** What was seen: unsupported rows are delivered as SXS_RULE_NONE. */
struct sxs_cfi_counts {
    unsigned n_functions, n_rows, n_damaged, n_unsupported;
};

/**
 * sxs_cfi_read - delivers all descriptions of @cfi, in the section's order.
 * @counts: added to. Returns 0, or -1 when the sink stopped. Any thread; not for signal handlers
 * (up to 4 KB of stack and as long as the section is large).
 */
int sxs_cfi_read(const struct sxs_cfi *cfi, const struct sxs_cfi_sink *sink,
                 struct sxs_cfi_counts *counts);

/** sxs_cfi_size - bytes up to and with the terminating zero length, at most @size. */
size_t sxs_cfi_size(const uint8_t *bytes, size_t size);

#endif
