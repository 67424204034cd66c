/* SPDX-License-Identifier: MIT */
/**
 * arch.h - what the C code needs to know about the processor: the registers of interrupted code,
 * instructions, guarded loads, ELF numbers. Selects the folder of the processor that is compiled for.
 * All folders have the same files with the same functions and constants.
 */
#ifndef SXS_ARCH_ARCH_H
#define SXS_ARCH_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64/context.h"
#include "arch/x86_64/elf_numbers.h"
#include "arch/x86_64/entry_points.h"
#include "arch/x86_64/guarded_load.h"
#include "arch/x86_64/instructions.h"
#include "arch/x86_64/runtime_helpers.h"
#include "arch/x86_64/system_call.h"
#else
#error "this processor has no folder in arch/ (docs/internals/architecture.md, Processors)"
#endif

#endif
