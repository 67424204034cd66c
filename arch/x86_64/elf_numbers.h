/* SPDX-License-Identifier: MIT */
/** elf_numbers.h - the processor's numbers in ELF files, and its dynamic loader. */
#ifndef SXS_ARCH_X86_64_ELF_NUMBERS_H
#define SXS_ARCH_X86_64_ELF_NUMBERS_H

#include <elf.h>
#include <stdint.h>

#define SXS_ELF_MACHINE EM_X86_64 /* e_machine of files for this processor */
#define SXS_ELF_LOADER  "/lib64/ld-linux-x86-64.so.2"

/** sxs_elf_is_import - true for the type of a relocation whose place receives the address of an imported
 *  function or variable. @type: ELF64_R_TYPE() of the relocation. Any thread; signal-safe. */
static inline int sxs_elf_is_import(unsigned type)
{
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

#endif
