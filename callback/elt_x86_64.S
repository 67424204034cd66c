/* SPDX-License-Identifier: MIT */
/*
 * elt_x86_64.S - enter, leave and tailcall hooks. Compiled code calls them with values live in any
 * register: every one is as it was when they return, but for flags.
 *
 * Enter: r14 is what the mapper returned, r15 the caller's stack pointer. Leave and tailcall: rdi and
 * rsi are these. rsp is 8 short of a multiple of 16 on entry.
 */
#include "calls/offsets.h"

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

/* Into rax; rdx changes. */
.macro read_tick
    rdtsc
    shl $32, %rdx
    or %rdx, %rax
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

/* Calls the function at rax with rdi and rsi as they are, and r8 as the third argument, all vector
 * registers saved: 4 KiB hold what xsave writes of the x87, SSE, AVX and AVX-512 state (2,696 bytes). */
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
    mov %r8, %rdx
    call *%rbx
    mov $0xe7, %eax
    xor %edx, %edx
    xrstor (%rsp)
    jmp 2f
1:  fxsave (%rsp)
    mov %r8, %rdx
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
    mov 32(%rsp), %r8 /* rdi as it was: the first argument */
    lea \slow(%rip), %rax
    call sxs_elt_slowly
    jmp 2b
end_function \name
.endm

/* rdi and rsi are saved fifth and fourth: 32 and 40 bytes above rsp. */
.macro leave_hook name, fast, slow
function \name
    save_integers
    read_tick
    mov %rax, %rdx
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

.macro push_one reg
    push \reg
    .cfi_adjust_cfa_offset 8
.endm

.macro pop_one reg
    pop \reg
    .cfi_adjust_cfa_offset -8
.endm

.macro save_some regs:vararg
    .irp reg, \regs
    push_one \reg
    .endr
.endm

.macro restore_some regs:vararg
    .irp reg, \regs
    pop_one \reg
    .endr
.endm

/* ---- the tree, when all is as it mostly is ----------------------------------------------------- */

/* As sxs_tree_enter() of calls/fast.c, of which it takes only what is done nearly always; in any other
 * case nothing has been counted yet, and that is called. */
function sxs_elt_tree_enter
    save_some %rax, %rcx, %rdx, %rsi
    mov sxs_calls_state@gottpoff(%rip), %rax
    mov %fs:(%rax), %rcx
    test %rcx, %rcx
    jz 9f
    mov STATE_TOP(%rcx), %rsi
    cmp %r15, FRAME_SP(%rsi)
    jbe 9f
    mov FRAME_NODE(%rsi), %rdx /* the caller's */
    mov NODE_LATEST(%rdx), %eax
    shl $CELL_BITS, %rax
    add STATE_CELLS(%rcx), %rax /* the callee's: reference 0 is a chunk's header, which fits none */
    mov CALLED_CELL(%r14), %edx
    cmp %edx, NODE_FUNCTION(%rax)
    jne 2f
1:  cmp STATE_LIMIT(%rcx), %rsi
    je 9f
    cmpl $0, CALLED_OFF(%r14)
    jne 5f
    incq NODE_CALLS(%rax)
    add $FRAME_SIZE, %rsi
    mov %r15, FRAME_SP(%rsi)
    mov %rax, FRAME_NODE(%rsi)
    mov %r14, FRAME_FN(%rsi)
    mov %rsi, STATE_TOP(%rcx)
    mov %rax, %rcx
    read_tick
    mov %rax, NODE_ENTERED(%rcx)
    mov %rax, FRAME_START(%rsi)
3:  restore_some %rsi, %rdx, %rcx, %rax
    ret
    .cfi_adjust_cfa_offset 32
5:  testl $CALLED_RESUMES, CALLED_OFF(%r14)
    jnz 9f
    incq NODE_CALLS(%rax) /* timed no longer */
    jmp 3b
2:  /* another child of the caller: in the first slot it may be in? */
    push_one %rdi
    mov FRAME_NODE(%rsi), %rax
    sub STATE_CELLS(%rcx), %rax
    shr $CELL_BITS, %rax
    shl $32, %rdx
    or %rdx, %rax /* the key */
    movabs $HASH_FACTOR, %rdi
    imul %rax, %rdi
    mov STATE_N_SLOTS(%rcx), %edx
    dec %edx
    shr $32, %rdi
    and %edi, %edx
    shl $4, %rdx
    add STATE_SLOTS(%rcx), %rdx
    pop_one %rdi
    cmp %rax, (%rdx)
    jne 9f
    mov SLOT_NODE(%rdx), %eax
    mov FRAME_NODE(%rsi), %rdx
    mov %eax, NODE_LATEST(%rdx)
    shl $CELL_BITS, %rax
    add STATE_CELLS(%rcx), %rax
    jmp 1b
9:  save_some %rdi, %r8, %r9, %r10, %r11
    mov %r14, %rdi
    mov %r15, %rsi
    call sxs_tree_enter
    test %eax, %eax
    jz 4f
    mov %r14, %rdi
    mov %r15, %rsi
    mov 32(%rsp), %r8 /* rdi as it was: the first argument */
    lea sxs_tree_enter_slow(%rip), %rax
    call sxs_elt_slowly
4:  restore_some %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
    ret
end_function sxs_elt_tree_enter

/* As sxs_tree_leave(), likewise. */
function sxs_elt_tree_leave
    testl $CALLED_IS_OFF, CALLED_OFF(%rdi)
    jnz 6f
7:  save_some %rax, %rcx, %rdx, %r8, %r9, %r10, %r11
    read_tick
    mov sxs_calls_state@gottpoff(%rip), %rcx
    mov %fs:(%rcx), %r10
    test %r10, %r10
    jz 9f
    mov STATE_TOP(%r10), %r8
    cmp %rsi, FRAME_SP(%r8)
    jne 9f
    cmp %rdi, FRAME_FN(%r8)
    jne 9f
    mov FRAME_START(%r8), %rdx
    test %rdx, %rdx
    jz 9f
    mov FRAME_NODE(%r8), %r9
    testw $DUE_MASK, NODE_CALLS(%r9)
    jz 9f
    cmpq $0, FRAME_CALLEES(%r8)
    jne 9f
    sub %rdx, %rax /* the duration; first the one before it is counted */
    mov STATE_RECORD(%r10), %r11
    mov RECORD_PENDING_OF(%r11), %r8d
    mov RECORD_PENDING(%r11), %rdx
    test %r8d, %r8d
    jz 8f
    shl $CELL_BITS, %r8
    add STATE_CELLS(%r10), %r8
    mov %rdx, %rcx
    or $8, %rcx
    bsr %rcx, %rcx
    cmp $LAST_OCTAVE, %ecx
    ja 8f
    mov HISTOGRAM_OCTAVES(%r8,%rcx,4), %r11d
    test %r11d, %r11d
    jz 8f
    shl $CELL_BITS, %r11
    add STATE_CELLS(%r10), %r11
    cmp %rdx, HISTOGRAM_MIN(%r8)
    ja 2f
1:  cmp %rdx, HISTOGRAM_MAX(%r8)
    jb 3f
4:  sub $3, %ecx
    shr %cl, %rdx
    and $7, %edx
    incq (%r11,%rdx,8)
    mov STATE_RECORD(%r10), %r11
    mov NODE_HISTOGRAM(%r9), %ecx
    mov %rax, RECORD_PENDING(%r11)
    mov %ecx, RECORD_PENDING_OF(%r11)
    subq $FRAME_SIZE, STATE_TOP(%r10)
    add %rax, NODE_TICKS(%r9)
    movq $0, NODE_ENTERED(%r9)
    restore_some %r11, %r10, %r9, %r8, %rdx, %rcx, %rax
    ret
    .cfi_adjust_cfa_offset 56
2:  mov %rdx, HISTOGRAM_MIN(%r8)
    jmp 1b
3:  mov %rdx, HISTOGRAM_MAX(%r8)
    jmp 4b
8:  mov STATE_TOP(%r10), %r8
    add FRAME_START(%r8), %rax
9:  save_some %rsi, %rdi
    mov %rax, %rdx
    call sxs_tree_leave
    test %eax, %eax
    jz 5f
    mov (%rsp), %rdi
    mov 8(%rsp), %rsi
    lea sxs_tree_leave_slow(%rip), %rax
    call sxs_elt_slowly
5:  restore_some %rdi, %rsi, %r11, %r10, %r9, %r8, %rdx, %rcx, %rax
    ret
6:  /* timed no longer: nothing to do, unless this call began before */
    push_one %rax
    mov sxs_calls_state@gottpoff(%rip), %rax
    mov %fs:(%rax), %rax
    test %rax, %rax
    jz 1f
    mov STATE_TOP(%rax), %rax
    cmp %rsi, FRAME_SP(%rax)
1:  pop_one %rax
    je 7b
    ret
end_function sxs_elt_tree_leave

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
    mov CALLED_NUMBER(%r14), %ecx
    cmp %fs:(%rax), %ecx
    jae 1f
    mov sxs_calls_flat@gottpoff(%rip), %rax
    mov %fs:(%rax), %rax
    mov (%rax,%rcx,8), %rax
    test %rax, %rax
    jz 1f
    incq NODE_CALLS(%rax)
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
