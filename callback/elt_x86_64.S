/* SPDX-License-Identifier: MIT */
/*
 * elt_x86_64.S - enter, leave and tailcall hooks. Compiled code calls them with values live in any
 * register: every one is as it was when they return, but for flags.
 *
 * Enter: r14 is what the mapper returned, r15 the caller's stack pointer. Leave and tailcall: rdi and
 * rsi are these. rsp is 8 short of a multiple of 16 on entry.
 */

/* The nine integer registers that C functions may change. 72 bytes: rsp is aligned afterwards. */
.macro save_integers
    push %rax
    .cfi_adjust_cfa_offset 8
    push %rcx
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %r8
    .cfi_adjust_cfa_offset 8
    push %r9
    .cfi_adjust_cfa_offset 8
    push %r10
    .cfi_adjust_cfa_offset 8
    push %r11
    .cfi_adjust_cfa_offset 8
.endm

.macro restore_integers
    pop %r11
    .cfi_adjust_cfa_offset -8
    pop %r10
    .cfi_adjust_cfa_offset -8
    pop %r9
    .cfi_adjust_cfa_offset -8
    pop %r8
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
.endm

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

    .text

/* Calls the function at rax with rdi and rsi as they are, all vector registers saved: 4 KiB hold what
 * xsave writes of the x87, SSE, AVX and AVX-512 state (2,696 bytes). */
function sxs_elt_slowly
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    push %rbx
    .cfi_offset %rbx, -24
    sub $4104, %rsp
    and $-64, %rsp
    mov %rax, %rbx
    xor %eax, %eax
    mov %rax, 512(%rsp) /* the header of what xsave writes must begin as zeros */
    mov %rax, 520(%rsp)
    mov %rax, 528(%rsp)
    mov %rax, 536(%rsp)
    mov %rax, 544(%rsp)
    mov %rax, 552(%rsp)
    mov %rax, 560(%rsp)
    mov %rax, 568(%rsp)
    mov $0xe7, %eax
    xor %edx, %edx
    cmpb $0, sxs_elt_xsave(%rip)
    je 1f
    xsave (%rsp)
    call *%rbx
    mov $0xe7, %eax
    xor %edx, %edx
    xrstor (%rsp)
    jmp 2f
1:  fxsave (%rsp)
    call *%rbx
    fxrstor (%rsp)
2:  mov -8(%rbp), %rbx
    leave
    .cfi_def_cfa %rsp, 8
    ret
end_function sxs_elt_slowly

.macro enter_hook name, fast, slow
function \name
    save_integers
    mov %r14, %rdi
    mov %r15, %rsi
    call \fast
    test %eax, %eax
    jnz 1f
2:  restore_integers
    ret
    .cfi_adjust_cfa_offset 72
1:  mov %r14, %rdi
    mov %r15, %rsi
    lea \slow(%rip), %rax
    call sxs_elt_slowly
    jmp 2b
end_function \name
.endm

/* rdi and rsi are saved fifth and fourth: 32 and 40 bytes above rsp. */
.macro leave_hook name, fast, slow
function \name
    save_integers
    call \fast
    test %eax, %eax
    jnz 1f
2:  restore_integers
    ret
    .cfi_adjust_cfa_offset 72
1:  mov 32(%rsp), %rdi
    mov 40(%rsp), %rsi
    lea \slow(%rip), %rax
    call sxs_elt_slowly
    jmp 2b
end_function \name
.endm

enter_hook sxs_elt_tree_enter, sxs_tree_enter, sxs_tree_enter_slow
leave_hook sxs_elt_tree_leave, sxs_tree_leave, sxs_tree_leave_slow
enter_hook sxs_elt_trace_enter, sxs_trace_enter, sxs_tree_enter_slow
leave_hook sxs_elt_trace_leave, sxs_trace_leave, sxs_tree_leave_slow
enter_hook sxs_elt_time_enter, sxs_time_enter, sxs_time_enter_slow
leave_hook sxs_elt_time_leave, sxs_time_leave, sxs_time_leave_slow

/* One count of this thread's node for the function. */
function sxs_elt_count_enter
    push %rax
    .cfi_adjust_cfa_offset 8
    push %rcx
    .cfi_adjust_cfa_offset 8
    mov sxs_calls_n_flat@gottpoff(%rip), %rax
    mov 4(%r14), %ecx /* struct sxs_called: number */
    cmp %fs:(%rax), %ecx
    jae 1f
    mov sxs_calls_flat@gottpoff(%rip), %rax
    mov %fs:(%rax), %rax
    mov (%rax,%rcx,8), %rax
    test %rax, %rax
    jz 1f
    incq 8(%rax) /* struct sxs_calls_node: calls */
    pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_adjust_cfa_offset 16
1:  pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
    save_integers
    mov %r14, %rdi
    mov %r15, %rsi
    lea sxs_count_enter_slow(%rip), %rax
    call sxs_elt_slowly
    restore_integers
    ret
end_function sxs_elt_count_enter

function sxs_elt_nothing
    ret
end_function sxs_elt_nothing

    .section .note.GNU-stack, "", @progbits
