/* SPDX-License-Identifier: MIT */
/* elt3.c - a profiler with hooks of version 3 without information, in assembly, and a mapper of
 * version 2, whose client data is its state of the runtime. */
#include "tests/guests/elt.h"

const char prof_clsid[] = "{5E5C0014-0000-4000-8000-0000000E1730}";

void elt3_enter(void), elt3_leave(void), elt3_tailcall(void);

/* The hook @name counts at @offset of the function @id, and at `bad` when the stack pointer @sp is
 * not above the hook's own. */
__asm__(
    ".macro elt3_hook name, offset, id, sp\n"
    ".globl \\name\n.hidden \\name\n.type \\name, @function\n.p2align 4\n\\name:\n.cfi_startproc\n"
    "  lock incq \\offset(\\id)\n"
    "  cmp %rsp, \\sp\n"
    "  ja 1f\n"
    "  lock incq 24(\\id)\n"
    "1: test $7, %spl\n"
    "  jz 2f\n"
    "  lock incq 24(\\id)\n"
    "2: ret\n.cfi_endproc\n.size \\name, . - \\name\n"
    ".endm\n"
    ".text\n"
    "elt3_hook elt3_enter, 0, %r14, %r15\n"
    "elt3_hook elt3_leave, 8, %rdi, %rsi\n"
    "elt3_hook elt3_tailcall, 16, %rdi, %rsi\n");

static int elt_is_chosen(const char *type, const char *method)
{
    return (strcmp(type, "Calls.Work") == 0 && strcmp(method, "Odd") != 0) ||
           strcmp(type, "Calls.Program") == 0 || strcmp(type, "Tail.Calls") == 0;
}

static UINT_PTR map(FunctionID id, void *data, BOOL *hook)
{
    struct elt_function *f = elt_add(data, id);
    *hook = f != NULL;
    return f ? (UINT_PTR)f : id;
}

HRESULT prof_initialize(struct prof *p)
{
    struct elt_runtime *rt = elt_begin(p);
    HRESULT             hr = p->info->vtbl->SetEventMask(p->info, ELT_MASK);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetEnterLeaveFunctionHooks3(
            p->info, (FunctionEnter3 *)(uintptr_t)elt3_enter,
            (FunctionLeave3 *)(uintptr_t)elt3_leave, (FunctionTailcall3 *)(uintptr_t)elt3_tailcall);
    if (SUCCEEDED(hr))
        hr = p->info->vtbl->SetFunctionIDMapper2(p->info, map, rt);
    return hr;
}

void prof_shutdown(struct prof *p)
{
    elt_report(p);
}
