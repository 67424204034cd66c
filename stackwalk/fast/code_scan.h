/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/code_scan.h - finds the unwind rule of code without unwind tables by reading
 * its instructions.
 *
 * Handles the code that JIT compilers and runtimes generate: stubs, and methods with and without
 * rbp as the frame pointer. Instructions are read forward up to the first return. They show what
 * will be taken off the stack before that return. docs/internals/walking.md gives the reasons. */
#ifndef SXS_STACKWALK_FAST_CODE_SCAN_H
#define SXS_STACKWALK_FAST_CODE_SCAN_H

#include "base/base.h"
#include "stackwalk/fast/rule.h"

#define SXS_CODE_SCAN_SIZE 512u /* maximum number of bytes read at a time */

/**
 * sxs_code_scan - find the rule at @ip.
 * @is_leaf: 1: the instruction at @ip is about to run (it may be in a prologue or epilogue). 0:
 *   @ip is a return address.
 * @start: where the function begins; 0 if not known.
 * Returns SXS_RULE_FRAME, SXS_RULE_GUESS, or SXS_RULE_NOWHERE when the memory at @ip cannot be
 * read. In SXS_RULE_FRAME, rbp_at is 0, or, if the epilogue shows where the return address is, 1
 * + its offset from rsp in units of 8 bytes.
 * Signal-safe; reads the code through the kernel; 1 to 3 us. */
SXS_SIGSAFE struct sxs_unwind_rule sxs_code_scan(uintptr_t ip, int is_leaf, uintptr_t start);

/**
 * sxs_code_is_patchpoint - whether @ip is the return address of a call of the patchpoint helper.
 * The helper may replace a tier 0 method while it runs (OSR). Its calls are recognized by the
 * instructions before @ip: "lea rdi, [rbp + n]; mov esi, n; call". Signal-safe, 0.5 us. */
SXS_SIGSAFE int sxs_code_is_patchpoint(uintptr_t ip);

/** sxs_code_is_return - whether a call instruction lies before @ip. Signal-safe, 0.5 us. */
SXS_SIGSAFE int sxs_code_is_return(uintptr_t ip);

#endif
