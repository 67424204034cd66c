/* SPDX-License-Identifier: MIT */
/* needs.S - the addresses of the functions that libsxsprof-clrie.so calls, in the order of needs.h. */
#include "clrie/link/needs.h"

#define ADDRESS(name) .quad name;

    .section .data.rel.ro, "aw", @progbits
    .balign 8
    .globl clrie_needs
    .hidden clrie_needs
    .type clrie_needs, @object
clrie_needs:
    CLRIE_NEEDS(ADDRESS)
    .size clrie_needs, . - clrie_needs

    .section .note.GNU-stack, "", @progbits
