/* SPDX-License-Identifier: MIT */
/*
 * elt_aarch64.S - enter, leave and tailcall hooks; callback/elt_x86_64.S describes what they do.
 * Assembled with every build, but never run: only x86-64 is supported.
 *
 * In all three hooks x10 is the value that the mapper returned, and x11 the caller's stack pointer.
 * Live registers: x0 to x8 and v0 to v7 (arguments, results), and x29. A hook may change the other
 * registers that a called function may change.
 */

/* Push x0 to x8, x10, x11, x29 and the return address: 112 bytes. */
.macro save_integers
    stp x29, x30, [sp, #-112]!
    .cfi_def_cfa_offset 112
    .cfi_offset x29, -112
    .cfi_offset x30, -104
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x10, [sp, #80]
    str x11, [sp, #96]
.endm

.macro restore_integers
    ldr x11, [sp, #96]
    ldp x8, x10, [sp, #80]
    ldp x6, x7, [sp, #64]
    ldp x4, x5, [sp, #48]
    ldp x2, x3, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #112
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
.endm

.macro function name
    .globl \name
    .hidden \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
.endm

.macro end_function name
    .cfi_endproc
    .size \name, . - \name
.endm

    .text

/* Call the function at x9 with the arguments in x0, x1 and x2. Saves v0 to v7. C code preserves v8
 * to v15 except for their upper halves, on which no code relies across a call. */
function sxs_elt_slowly
    stp x29, x30, [sp, #-144]!
    .cfi_def_cfa_offset 144
    .cfi_offset x29, -144
    .cfi_offset x30, -136
    mov x29, sp
    stp q0, q1, [sp, #16]
    stp q2, q3, [sp, #48]
    stp q4, q5, [sp, #80]
    stp q6, q7, [sp, #112]
    blr x9
    ldp q6, q7, [sp, #112]
    ldp q4, q5, [sp, #80]
    ldp q2, q3, [sp, #48]
    ldp q0, q1, [sp, #16]
    ldp x29, x30, [sp], #144
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
end_function sxs_elt_slowly

.macro hook name, fast, slow
function \name
    save_integers
    mrs x2, cntvct_el0 /* the tick, an argument of leave functions only */
    mov x0, x10
    mov x1, x11
    bl \fast
    cbz w0, 1f
    ldr x0, [sp, #88]
    ldr x1, [sp, #96]
    ldr x2, [sp, #16] /* saved x0: the first argument of the hooked function */
    adrp x9, \slow
    add x9, x9, :lo12:\slow
    bl sxs_elt_slowly
1:  restore_integers
    ret
end_function \name
.endm

hook sxs_elt_tree_enter, sxs_tree_enter, sxs_tree_enter_slow
hook sxs_elt_tree_leave, sxs_tree_leave, sxs_tree_leave_slow
hook sxs_elt_trace_enter, sxs_trace_enter, sxs_tree_enter_slow
hook sxs_elt_trace_leave, sxs_trace_leave, sxs_tree_leave_slow
hook sxs_elt_time_enter, sxs_time_enter, sxs_time_enter_slow
hook sxs_elt_time_leave, sxs_time_leave, sxs_time_leave_slow

/* Count one call in this thread's node of the function. x9 and x12 to x17 need not be saved. */
function sxs_elt_count_enter
    mrs x9, tpidr_el0
    adrp x12, :gottprel:sxs_calls_n_flat
    ldr x12, [x12, :gottprel_lo12:sxs_calls_n_flat]
    ldr w13, [x9, x12]
    ldr w14, [x10, #4] /* sxs_called.number */
    cmp w14, w13
    b.hs 1f
    adrp x12, :gottprel:sxs_calls_flat
    ldr x12, [x12, :gottprel_lo12:sxs_calls_flat]
    ldr x12, [x9, x12]
    ldr x12, [x12, w14, uxtw #3]
    cbz x12, 1f
    ldr x13, [x12, #8] /* sxs_calls_node.calls */
    add x13, x13, #1
    str x13, [x12, #8]
    ret
1:  save_integers
    mov x0, x10
    mov x1, x11
    adrp x9, sxs_count_enter_slow
    add x9, x9, :lo12:sxs_count_enter_slow
    bl sxs_elt_slowly
    restore_integers
    ret
end_function sxs_elt_count_enter

function sxs_elt_nothing
    ret
end_function sxs_elt_nothing

    .section .note.GNU-stack, "", %progbits
