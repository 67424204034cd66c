/* SPDX-License-Identifier: MIT */
/** entry_points.h - functions that must be assembly, because they jump to another function and leave no frame. */
#ifndef SXS_ARCH_X86_64_ENTRY_POINTS_H
#define SXS_ARCH_X86_64_ENTRY_POINTS_H

/**
 * SXS_DLSYM_BODY - the body of a naked function that is called instead of dlsym(handle, name).
 * @look_up: name of a function that gets calls with a handle of dlopen(), as a string literal. Calls with
 *           RTLD_DEFAULT or RTLD_NEXT (0, -1) go to dlsym().
 * Both are jumped to, with the arguments in their registers, so they return to the caller.
 */
#define SXS_DLSYM_BODY(look_up)                                   \
    __asm__("lea 1(%rdi), %rax\n\t" /* -1 and 0 become 0 and 1 */ \
            "cmp $1, %rax\n\t"                                    \
            "ja " look_up "\n\t"                                  \
            "jmp *dlsym@GOTPCREL(%rip)")

/**
 * SXS_THREAD_TRAMPOLINE - define the start routine of a new thread; used at file scope.
 * @name: name of the routine, a string literal. The C code declares it as void *name(void *arg).
 * @begin: name of a function with external linkage, a string literal: struct { routine, argument } begin(void *arg),
 *         both members pointers. It is called first; then the routine that it returned is jumped to with its
 *         argument, so that no frame is left.
 */
#define SXS_THREAD_TRAMPOLINE(name, begin)          \
    __asm__(".text\n"                               \
            ".p2align 4\n"                          \
            ".hidden " name "\n"                    \
            ".globl " name "\n"                     \
            ".type " name ", @function\n"           \
            name ":\n"                              \
            "    .cfi_startproc\n"                  \
            "    endbr64\n"                         \
            "    subq $8, %rsp\n"                   \
            "    .cfi_adjust_cfa_offset 8\n"        \
            "    call " begin "\n" /* rax, rdx */   \
            "    addq $8, %rsp\n"                   \
            "    .cfi_adjust_cfa_offset -8\n"       \
            "    movq %rdx, %rdi\n"                 \
            "    jmp *%rax\n"                       \
            "    .cfi_endproc\n"                    \
            ".size " name ", . - " name "\n")

#endif
