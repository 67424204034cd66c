/* SPDX-License-Identifier: MIT */
/** runtime_helpers.h - what the runtimes' own assembly does on this processor. */
#ifndef SXS_ARCH_X86_64_RUNTIME_HELPERS_H
#define SXS_ARCH_X86_64_RUNTIME_HELPERS_H

/** Index of the stack pointer in the 8-byte words to which a COR_PRF_ELT_INFO leads: the value that hooks without
 *  info receive. */
#define SXS_HELPER_SP_WORD 4

#endif
