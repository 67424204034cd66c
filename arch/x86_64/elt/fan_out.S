/* SPDX-License-Identifier: MIT */
/*
 * fan_out.S - the hooks that a runtime gets when several users have hooks and none of them
 * needs information. Compiled code calls them while any register may hold a live value. They call
 * the hooks in a record (struct hooks_record) one after the other, each with the registers that the
 * runtime would give it, and preserve all registers except the flags, also those of the arguments.
 *
 * Enter: r14 is the address of the record's entries, and r15 the caller's stack pointer. Leave and
 * tailcall: rdi and rsi hold these two. On entry rsp is 8 less than a multiple of 16.
 */
#include "arch/x86_64/elt/macros.h"
#include "elt/fan_out_offsets.h"

.macro push_one reg
    push \reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
.endm

.macro pop_one reg
    pop \reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore \reg
.endm

    .text

/* Define the hook @name, which calls the hook at @offset of each entry. @id, @sp: the registers of
 * the two arguments. rbx is the entry; a hook preserves it. The arguments are loaded again for each
 * hook, because a hook that clobbers them does no harm when it is alone. */
.macro fan_out name, offset, id, sp
function \name
    push_one %rbx
    push_one \id
    push_one \sp
    mov \id, %rbx
1:  mov ENTRY_PASSED(%rbx), \id
    mov (%rsp), \sp
    call *\offset(%rbx)
    add $ENTRY_SIZE, %rbx
    cmpq $0, ENTRY_ENTER(%rbx)
    jne 1b
    pop_one \sp
    pop_one \id
    pop_one %rbx
    ret
end_function \name
.endm

fan_out sxs_hooks_fan_enter, ENTRY_ENTER, %r14, %r15
fan_out sxs_hooks_fan_leave, ENTRY_LEAVE, %rdi, %rsi
fan_out sxs_hooks_fan_tailcall, ENTRY_TAILCALL, %rdi, %rsi

function sxs_hooks_nothing
    ret
end_function sxs_hooks_nothing

/* Define @name, which calls the C function @target with the entry in @id as its argument. Saves the
 * integer registers and the lower halves of the vector registers; the runtime's own helper for such
 * hooks saves fewer. 9 pushes align rsp. */
.macro old_hook name, target, id
function \name
    .irp reg, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11
    push_one \reg
    .endr
    sub $256, %rsp
    .cfi_adjust_cfa_offset 256
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movaps %xmm\n, 16*\n(%rsp)
    .endr
    mov \id, %rdi
    call \target
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movaps 16*\n(%rsp), %xmm\n
    .endr
    add $256, %rsp
    .cfi_adjust_cfa_offset -256
    .irp reg, %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax
    pop_one \reg
    .endr
    ret
end_function \name
.endm

old_hook sxs_hooks_old_enter, hooks_old_enter, %r14
old_hook sxs_hooks_old_leave, hooks_old_leave, %rdi
old_hook sxs_hooks_old_tailcall, hooks_old_tailcall, %rdi

/* void sxs_hooks_call_enter(hook, client, sp, first) */
function sxs_hooks_call_enter
    push_one %rbx
    push_one %r14
    push_one %r15
    mov %rdi, %rax
    mov %rsi, %r14
    mov %rdx, %r15
    mov %rcx, %rdi
    call *%rax
    pop_one %r15
    pop_one %r14
    pop_one %rbx
    ret
end_function sxs_hooks_call_enter

/* void sxs_hooks_call_leave(hook, client, sp) */
function sxs_hooks_call_leave
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    jmp *%rax
end_function sxs_hooks_call_leave

    .section .note.GNU-stack, "", @progbits
