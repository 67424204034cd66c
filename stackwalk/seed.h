/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/seed.h - converts the registers of a frame between a runtime's CONTEXT, libunwind's ucontext and
 * struct sxs_seed. Written for each processor: arch/x86_64/stackwalk/seed.c. No locks; any thread; not for
 * signal handlers. */
#ifndef SXS_STACKWALK_SEED_H
#define SXS_STACKWALK_SEED_H

#include "stackwalk/fast/unwind_library.h"
#include "symbols/frame.h"

/** Large enough for the CONTEXT of every runtime (largest known: 3232 bytes, in 10.0). */
#define SXS_CONTEXT_BYTES 4096
/**
 * sxs_seed_from_context - read the registers from a CONTEXT of @size bytes. Returns 0, or -1
 * when @size is too small to hold them. */
int sxs_seed_from_context(struct sxs_seed *seed, const uint8_t *context, size_t size);
/**
 * sxs_seed_to_context - write a CONTEXT. @context: SXS_CONTEXT_BYTES bytes, aligned to 16; all
 * of them are overwritten. */
void sxs_seed_to_context(const struct sxs_seed *seed, uint8_t *context);
/** sxs_seed_to_unwind - store the registers of @seed in @uc; the others become 0. */
void sxs_seed_to_unwind(const struct sxs_seed *seed, unw_context_t *uc);
/** sxs_seed_rbp_on_stack - true when the two words at RBP lie between SP and @stack_end. */
int sxs_seed_rbp_on_stack(const struct sxs_seed *seed, uintptr_t stack_end);
/**
 * sxs_seed_caller_by_rbp - find the caller by the RBP chain. Returns 0, or -1 when the two words
 * at RBP do not lie between @seed's SP and @stack_end. */
int sxs_seed_caller_by_rbp(const struct sxs_seed *seed, uintptr_t stack_end, struct sxs_seed *out);

#endif
