/* SPDX-License-Identifier: MIT */
/* macros.h - how the functions of this folder that are written in assembly begin and end. */

.macro function name
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
.endm

.macro end_function name
    .cfi_endproc
    .size \name, . - \name
.endm
