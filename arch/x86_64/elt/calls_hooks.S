/* SPDX-License-Identifier: MIT */
/*
 * calls_hooks.S - the hooks of the tool calls. Compiled code calls them while any register may
 * hold a live value, so a hook preserves all registers except the flags.
 *
 * Enter: r14 is the value that the mapper returned (a struct sxs_called), and r15 the caller's
 * stack pointer. Leave and tailcall: rdi and rsi hold these two. On entry rsp is 8 less than a
 * multiple of 16.
 */
#include "arch/x86_64/elt/macros.h"
#include "elt/calls_offsets.h"

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

/* Push the nine integer registers that C functions may change: 72 bytes, which aligns rsp. */
.macro save_integers
    save_some %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11
.endm

.macro restore_integers
    restore_some %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
.endm

/* Read the time stamp counter into rax. Changes rdx. */
.macro read_tick
    rdtsc
    shl $32, %rdx
    or %rdx, %rax
.endm

    .text

/* Call the function at rax with the arguments in rdi, rsi and r8. Saves all vector registers: xsave
 * writes 2,696 bytes of x87, SSE, AVX and AVX-512 state into an area of 4 KiB. */
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
    mov %rax, 512(%rsp) /* the header of the xsave area must be zero before xsave */
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

/* ---- fast path ----------------------------------------------------------------------------- */

/*
 * The hooks below handle the most frequent case of the functions in tools/calls/fast.c. In any
 * other case they call the function in fast.c, before they have counted anything.
 */

/* Begin an enter hook. Sets rcx to this thread's state (struct sxs_calls_state) and rsi to its
 * youngest frame; jumps to 9 when there is no state or when that frame is stale. */
.macro enter_begins
    save_some %rax, %rcx, %rdx, %rsi
    mov sxs_calls_state@gottpoff(%rip), %rax
    mov %fs:(%rax), %rcx
    test %rcx, %rcx
    jz 9f
    mov STATE_TOP(%rcx), %rsi
    cmp %r15, FRAME_SP(%rsi)
    jbe 9f
.endm

/* Push a frame of the node rax on the shadow stack. Sets rsi to the new frame. */
.macro push_frame
    add $FRAME_SIZE, %rsi
    mov %r15, FRAME_SP(%rsi)
    mov %rax, FRAME_NODE(%rsi)
    mov %r14, FRAME_FN(%rsi)
    mov %rsi, STATE_TOP(%rcx)
.endm

.macro enter_ends
    restore_some %rsi, %rdx, %rcx, %rax
    ret
    .cfi_adjust_cfa_offset 32
.endm

/* The label 9 of an enter hook: call the C function @fast, and @slow when @fast returns nonzero. */
.macro enter_otherwise fast, slow
9:  save_some %rdi, %r8, %r9, %r10, %r11
    mov %r14, %rdi
    mov %r15, %rsi
    call \fast
    test %eax, %eax
    jz 4f
    mov %r14, %rdi
    mov %r15, %rsi
    mov 32(%rsp), %r8 /* saved rdi: the first argument of the hooked function */
    lea \slow(%rip), %rax
    call sxs_elt_slowly
4:  restore_some %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
    ret
.endm

/* Turn @reg, the address of a node, into the second word of an event: the node's reference and the
 * event's @kind. @state: register that holds the thread's state. */
.macro event_word kind, reg, state
    sub STATE_CELLS(\state), \reg
    shr $CELL_BITS, \reg
    bts $(32 + \kind), \reg
.endm

/* Define the enter hook @name, which counts and times each call path. @fast: its C function.
 * @trace: 1 when the hook also records an event for each call. */
.macro tree_enter name, fast, trace
function \name
    enter_begins
    mov FRAME_NODE(%rsi), %rdx /* the caller's node */
    mov NODE_LATEST(%rdx), %eax
    shl $CELL_BITS, %rax
    add STATE_CELLS(%rcx), %rax /* callee's node; reference 0, a chunk's header, never matches */
    mov CALLED_CELL(%r14), %edx
    cmp %edx, NODE_FUNCTION(%rax)
    jne 2f
1:  cmp STATE_LIMIT(%rcx), %rsi
    je 9f
.if \trace
    mov STATE_EVENT(%rcx), %rdx
    cmp STATE_EVENT_END(%rcx), %rdx
    je 9f
.endif
    cmpl $0, CALLED_OFF(%r14)
    jne 5f
    incq NODE_CALLS(%rax)
    push_frame
.if \trace
    event_word EVENT_ENTER, %rax, %rcx
    mov %rax, EVENT_NODE(%rdx)
    addq $EVENT_SIZE, STATE_EVENT(%rcx)
    mov %rdx, %rcx
    read_tick
    mov FRAME_NODE(%rsi), %rdx
    mov %rax, NODE_ENTERED(%rdx)
    mov %rax, FRAME_START(%rsi)
    mov %rax, EVENT_TICK(%rcx) /* last, so that an event with a tick is complete after a crash */
.else
    mov %rax, %rcx
    read_tick
    mov %rax, NODE_ENTERED(%rcx)
    mov %rax, FRAME_START(%rsi)
.endif
3:  enter_ends
5:  testl $CALLED_SPECIAL, CALLED_OFF(%r14)
    jnz 9f
    incq NODE_CALLS(%rax) /* backed off: count the call, but do not time it */
    jmp 3b
2:  /* not the child called last: look only in the first slot of the hash table that fits the key */
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
    enter_otherwise \fast, sxs_tree_enter_slow
end_function \name
.endm

tree_enter sxs_elt_tree_enter, sxs_tree_enter, 0
tree_enter sxs_elt_trace_enter, sxs_trace_enter, 1

function sxs_elt_time_enter
    enter_begins
    cmp STATE_LIMIT(%rcx), %rsi
    je 9f
    mov CALLED_NUMBER(%r14), %edx
    cmp STATE_N_FLAT(%rcx), %edx
    jae 9f
    mov STATE_FLAT(%rcx), %rax
    mov (%rax,%rdx,8), %rax
    test %rax, %rax
    jz 9f
    incq NODE_CALLS(%rax)
    testl $CALLED_IS_OFF, CALLED_OFF(%r14)
    jnz 3f
    incl NODE_ACTIVE(%rax)
    push_frame
    movq $0, FRAME_CALLEES(%rsi)
    read_tick
    mov %rax, FRAME_START(%rsi)
3:  enter_ends
    enter_otherwise sxs_time_enter, sxs_time_enter_slow
end_function sxs_elt_time_enter

/* End a call in a tree: add its duration rax to its node r9 and pop its frame. r10: the state.
 * @trace: 1 when the hook also records an event. */
.macro end_of_path trace
.if \trace
    mov STATE_TOP(%r10), %r8
    mov STATE_EVENT(%r10), %r11
    mov FRAME_START(%r8), %rdx
    mov %r9, %rcx
    add %rax, %rdx /* tick at which the call ended */
    event_word EVENT_LEAVE, %rcx, %r10
    mov %rcx, EVENT_NODE(%r11)
    mov %rdx, EVENT_TICK(%r11)
    add $EVENT_SIZE, %r11
    mov %r11, STATE_EVENT(%r10)
.endif
    subq $FRAME_SIZE, STATE_TOP(%r10)
    add %rax, NODE_TICKS(%r9)
    movq $0, NODE_ENTERED(%r9)
.endm

/* End a call without a tree: add its duration rax to its node r9 and to the caller's FRAME_CALLEES,
 * and pop its frame. r10: the state. */
.macro end_of_flat
    mov STATE_TOP(%r10), %r8
    mov %rax, %rdx
    sub FRAME_CALLEES(%r8), %rdx
    add %rax, (FRAME_CALLEES - FRAME_SIZE)(%r8)
    sub $FRAME_SIZE, %r8
    mov %r8, STATE_TOP(%r10)
    add %rdx, NODE_SELF(%r9)
    decl NODE_ACTIVE(%r9)
    jnz 10f
    add %rax, NODE_TICKS(%r9)
10:
.endm

/* Define the leave hook @name. @fast, @slow: its C functions. @tree: 1 when nodes are
 * call paths, 0 when they are functions. @trace: 1 when the hook also records an event. */
.macro leave_hook name, fast, slow, tree, trace
function \name
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
.if \trace
    mov STATE_EVENT(%r10), %rdx
    cmp STATE_EVENT_END(%r10), %rdx
    je 9f
.endif
    mov FRAME_START(%r8), %rdx
    test %rdx, %rdx
    jz 9f
    mov FRAME_NODE(%r8), %r9
    testw $DUE_MASK, NODE_CALLS(%r9)
    jz 9f
.if \tree
    cmpq $0, FRAME_CALLEES(%r8)
    jne 9f
.endif
    sub %rdx, %rax /* this call's duration; the histogram first gets that of the previous call */
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
.if \tree
    end_of_path \trace
.else
    end_of_flat
.endif
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
    call \fast
    test %eax, %eax
    jz 5f
    mov (%rsp), %rdi
    mov 8(%rsp), %rsi
    lea \slow(%rip), %rax
    call sxs_elt_slowly
5:  restore_some %rdi, %rsi, %r11, %r10, %r9, %r8, %rdx, %rcx, %rax
    ret
6:  /* backed off: nothing to do, unless this call has a frame because it began before that */
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
end_function \name
.endm

leave_hook sxs_elt_tree_leave, sxs_tree_leave, sxs_tree_leave_slow, 1, 0
leave_hook sxs_elt_trace_leave, sxs_trace_leave, sxs_tree_leave_slow, 1, 1
leave_hook sxs_elt_time_leave, sxs_time_leave, sxs_time_leave_slow, 0, 0

/* The tailcall hook of all modes with times. Most code makes no fast tail calls while calls are
 * timed (tools/calls/tails.h), so there is no fast path. */
function sxs_elt_tailcall
    save_integers
    lea sxs_tails_left(%rip), %rax
    call sxs_elt_slowly
    restore_integers
    ret
end_function sxs_elt_tailcall

/* Count one call in this thread's node of the function. */
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
