/* SPDX-License-Identifier: MIT */
/** early_il.h - what a method's IL says of how the JIT compiles it first. */
#ifndef SXS_SAMPLER_EARLY_IL_H
#define SXS_SAMPLER_EARLY_IL_H

#include <stddef.h>
#include <stdint.h>

#include "record/samples.h"

/**
 * sxs_early_il_tier - the tier of the first compilation of a method that takes part in tiers.
 * @il: its body, header included; at most @size bytes of it.
 * SXS_TIER_0, as a rule. SXS_TIER_OPTIMIZED when the JIT could not replace the method while it runs (OSR), and so
 * optimizes it at once: a loop beside stackalloc, or within a catch or finally block. SXS_TIER_UNKNOWN when the body
 * cannot be read, or has explicit tail calls. Any thread; allocates.
 */
enum sxs_code_tier sxs_early_il_tier(const uint8_t *il, size_t size);

/**
 * sxs_early_il_is_large - 1: the JIT compiles that body without optimization, whatever it is asked for (MinOpts):
 * it has more than 60,000 bytes of code. @il, @size: as above. Pure.
 */
int sxs_early_il_is_large(const uint8_t *il, size_t size);

#endif
