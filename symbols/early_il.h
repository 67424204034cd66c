/* SPDX-License-Identifier: MIT */
/** symbols/early_il.h - finds out from a method's IL at which tier the JIT compiles it first. */
#ifndef SXS_SYMBOLS_EARLY_IL_H
#define SXS_SYMBOLS_EARLY_IL_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/samples.h"

/**
 * sxs_early_il_tier - the tier of the first compilation of a method that takes part in tiered
 * compilation.
 * @il: its body, including the header. @size: upper limit of its size, bytes.
 * Returns SXS_TIER_0 in most cases. SXS_TIER_OPTIMIZED when the JIT could not replace the method
 * while it runs (OSR) and therefore optimizes it at once: the method has a loop and stackalloc,
 * or a loop in a catch or finally block. SXS_TIER_UNKNOWN when the body cannot be read or has
 * explicit tail calls. Any thread; allocates. */
enum sxs_code_tier sxs_early_il_tier(const uint8_t *il, size_t size);

/**
 * sxs_early_il_is_large - whether a body has more than 60,000 bytes of code. The JIT compiles such
 * a body without optimization (MinOpts), at every tier.
 * @il, @size: as for sxs_early_il_tier(). Returns 1 or 0. Pure. */
int sxs_early_il_is_large(const uint8_t *il, size_t size);

#endif
