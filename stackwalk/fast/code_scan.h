/* SPDX-License-Identifier: MIT */
/**
 * code_scan.h - the rule of code that has no unwind table, by reading its instructions forward.
 *
 * For what JIT compilers and runtimes write: stubs, frames with rbp, frames without. Straight on to
 * the first return, which shows what has to come off the stack before it. docs/walking.md says why.
 */
#ifndef SXS_SAMPLER_CODE_SCAN_H
#define SXS_SAMPLER_CODE_SCAN_H

#include "base/base.h"
#include "stackwalk/fast/rule.h"

#define SXS_CODE_SCAN_SIZE 512u /* bytes read at most */

/**
 * sxs_code_scan - the rule at @ip.
 * @is_leaf: the instruction at @ip is about to run (it may be in a prologue or epilogue), else a
 *     call in front of it has yet to return.
 * @start: where the function begins, 0 if not known.
 * Returns SXS_RULE_FRAME (rbp_at: 1 + the return address's offset from rsp in units of 8, where the
 * epilogue tells it, else 0), SXS_RULE_GUESS, or SXS_RULE_NOWHERE when nothing can be read there.
 * Signal-safe; reads the code through the kernel; 1 to 3 us.
 */
SXS_SIGSAFE struct sxs_rule sxs_code_scan(uintptr_t ip, int is_leaf, uintptr_t start);

/**
 * sxs_code_is_patchpoint - whether @ip is where the helper returns to that may replace a method of
 * tier 0 while it runs: behind "lea rdi, [rbp + n]; mov esi, n; call". Signal-safe, 0.5 us.
 */
SXS_SIGSAFE int sxs_code_is_patchpoint(uintptr_t ip);

/** sxs_code_is_return - whether a call instruction lies before @ip. Signal-safe, 0.5 us. */
SXS_SIGSAFE int sxs_code_is_return(uintptr_t ip);

#endif
