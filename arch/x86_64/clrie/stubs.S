/* SPDX-License-Identifier: MIT */
/*
 * stubs.S - a stub for each function that this library calls in libsxsprof.so: it jumps to the address
 * in its slot. entry.c fills the slots before any other code of this library runs.
 */
#include "clrie/link/needs.h"

    .section .bss.clrie_slots, "aw", @nobits
    .balign 8
    .globl clrie_slots
    .hidden clrie_slots
    .type clrie_slots, @object
clrie_slots:

#define STUB(name)                                         \
    .pushsection .bss.clrie_slots, "aw", @nobits;          \
    .Lslot_##name: .zero 8;                                \
    .popsection;                                           \
    .globl name;                                           \
    .hidden name;                                          \
    .type name, @function;                                 \
    name: .cfi_startproc;                                  \
    jmp *.Lslot_##name(%rip);                              \
    .cfi_endproc;                                          \
    .size name, . - name;

    .text
    CLRIE_NEEDS(STUB)

    .section .bss.clrie_slots, "aw", @nobits
    .size clrie_slots, . - clrie_slots

    .section .note.GNU-stack, "", @progbits
