/* SPDX-License-Identifier: MIT */
/**
 * hooked.c - calls enter, leave and tailcall hooks as compiled code of a real CLR does.
 *
 * Every integer and vector register is filled before the call. A hook must preserve all of them; a
 * register that has changed ends the process.
 */
#include "tests/fake/fake.h"

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, R8, R9, R10, R11, R12, R13, R14, R15, N_INTEGERS };

struct registers {
    uint64_t integer[16];
    uint64_t vector[16][4];
};

/* Read and written by the assembly below. Offsets: hook 0, in 8, out 648. */
struct hook_call {
    uint64_t hook;
    struct registers in, out;
};
_Static_assert(offsetof(struct hook_call, out) == 648, "the assembly below");
_Static_assert(offsetof(struct hook_call, out.vector) == 776, "the assembly below");

void fake_hook_thunk_avx(struct hook_call *call) __attribute__((visibility("hidden")));
void fake_hook_thunk_sse(struct hook_call *call) __attribute__((visibility("hidden")));

/* Loads the registers from `in`, calls the hook, stores the registers to `out`. The stack pointer
 * is a multiple of 16 before the call, and rbp leads to the caller's frame. */
__asm__(".macro fake_each_integer op, base\n"
        "  \\op %rbx, \\base+8\n  \\op %rcx, \\base+16\n  \\op %rdx, \\base+24\n"
        "  \\op %rsi, \\base+32\n  \\op %r8, \\base+56\n  \\op %r9, \\base+64\n"
        "  \\op %r10, \\base+72\n  \\op %r11, \\base+80\n  \\op %r12, \\base+88\n"
        "  \\op %r13, \\base+96\n  \\op %r14, \\base+104\n  \\op %r15, \\base+112\n"
        ".endm\n"
        ".macro fake_get reg, at\n  mov \\at(%rdi), \\reg\n.endm\n"
        ".macro fake_put reg, at\n  mov \\reg, \\at(%rax)\n.endm\n"
        ".macro fake_thunk name, move, wide, end\n"
        ".text\n.p2align 4\n.globl \\name\n.hidden \\name\n.type \\name, @function\n\\name:\n"
        "  .cfi_startproc\n  push %rbp\n  .cfi_def_cfa_offset 16\n  .cfi_offset %rbp, -16\n"
        "  mov %rsp, %rbp\n  .cfi_def_cfa_register %rbp\n"
        "  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n  sub $24, %rsp\n"
        "  mov (%rdi), %rax\n  mov %rax, (%rsp)\n  mov %rdi, 8(%rsp)\n"
        "  mov %rbp, 8+48(%rdi)\n"
        "  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    \\move 8+128+32*\\n(%rdi), %\\wide\\n\n  .endr\n"
        "  fake_each_integer fake_get, 8\n"
        "  mov 8(%rdi), %rax\n  mov 8+40(%rdi), %rdi\n"
        "  call *(%rsp)\n"
        "  mov %rax, 16(%rsp)\n  mov 8(%rsp), %rax\n"
        "  fake_each_integer fake_put, 648\n"
        "  mov %rdi, 648+40(%rax)\n  mov %rbp, 648+48(%rax)\n"
        "  mov 16(%rsp), %rbx\n  mov %rbx, 648(%rax)\n"
        "  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    \\move %\\wide\\n, 776+32*\\n(%rax)\n  .endr\n"
        "  \\end\n"
        "  add $24, %rsp\n  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  .cfi_def_cfa %rsp, 8\n  ret\n  .cfi_endproc\n  .size \\name, . - \\name\n"
        ".endm\n"
        "fake_thunk fake_hook_thunk_avx, vmovups, ymm, vzeroupper\n"
        "fake_thunk fake_hook_thunk_sse, movups, xmm, nop\n");

static void fill(struct hook_call *call, uint64_t seed)
{
    uint64_t *at = call->in.integer, x = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (unsigned i = 0; i < sizeof(call->in) / sizeof(*at); i++)
        at[i] = x += UINT64_C(0x0101010101010101);
}

static void compare(const struct hook_call *call, const char *what, unsigned words)
{
    for (int i = 0; i < N_INTEGERS; i++)
        if (call->in.integer[i] != call->out.integer[i]) {
            fprintf(stderr, "fakeclr: %s changed integer register %d\n", what, i);
            abort();
        }
    for (unsigned i = 0; i < 64; i++)
        if (i % 4 < words && call->in.vector[i / 4][i % 4] != call->out.vector[i / 4][i % 4]) {
            fprintf(stderr, "fakeclr: %s changed vector register %u\n", what, i / 4);
            abort();
        }
}

static void call_hook(uintptr_t hook, const char *what, uint64_t client, uintptr_t sp)
{
    struct hook_call call = {0};
    bool avx = __builtin_cpu_supports("avx"), enter = what[0] == 'e';
    if (!hook)
        return;
    fill(&call, client ^ sp);
    call.hook = hook;
    call.in.integer[enter ? R14 : RDI] = client;
    call.in.integer[enter ? R15 : RSI] = sp;
    if (avx)
        fake_hook_thunk_avx(&call);
    else
        fake_hook_thunk_sse(&call);
    compare(&call, what, avx ? 4 : 2);
    atomic_fetch_add_explicit(&fake.elt_calls, 1, memory_order_relaxed);
}

/* Hooks with information are ordinary C functions: in a real CLR a helper of the runtime saves the
 * registers before it calls them. */
static void call_info_hook(uintptr_t hook, uint64_t client)
{
    FunctionEnter3WithInfo *call = (FunctionEnter3WithInfo *)hook;
    FunctionIDOrClientID id = {.clientID = client};
    if (!call)
        return;
    call(id, (COR_PRF_ELT_INFO)(uintptr_t)&id);
    atomic_fetch_add_explicit(&fake.elt_calls, 1, memory_order_relaxed);
}

void fake_enter(struct fake_function *function, uintptr_t sp)
{
    uint64_t client = atomic_load_explicit(&function->client, memory_order_relaxed);
    if (!atomic_load_explicit(&function->hooked, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&function->n_entered, 1, memory_order_relaxed);
    call_hook(atomic_load(&fake.enter3), "enter", client, sp);
    call_info_hook(atomic_load(&fake.enter3_info), client);
}

void fake_leave(struct fake_function *function, uintptr_t sp)
{
    uint64_t client = atomic_load_explicit(&function->client, memory_order_relaxed);
    if (!atomic_load_explicit(&function->hooked, memory_order_relaxed))
        return;
    call_hook(atomic_load(&fake.leave3), "leave", client, sp);
    call_info_hook(atomic_load(&fake.leave3_info), client);
}

void fake_tailcall(struct fake_function *function, uintptr_t sp)
{
    uint64_t client = atomic_load_explicit(&function->client, memory_order_relaxed);
    if (!atomic_load_explicit(&function->hooked, memory_order_relaxed))
        return;
    call_hook(atomic_load(&fake.tailcall3), "tailcall", client, sp);
    call_info_hook(atomic_load(&fake.tailcall3_info), client);
}

/* A mapper with client data replaces the older kind of mapper. Either may refuse hooks for the
 * function. */
bool fake_map(struct fake_function *function, uint64_t *client)
{
    FunctionIDMapper2 *mapper2 = (FunctionIDMapper2 *)atomic_load(&fake.mapper2);
    FunctionIDMapper *mapper = (FunctionIDMapper *)atomic_load(&fake.mapper);
    FunctionID id = (FunctionID)(uintptr_t)function;
    BOOL hook = 1;
    *client = id;
    if (mapper2)
        *client = mapper2(id, (void *)atomic_load(&fake.mapper_data), &hook);
    else if (mapper)
        *client = mapper(id, &hook);
    return hook;
}

void fake_hook_compiled(struct fake_function *function)
{
    uint64_t client;
    bool hooked;
    if (!(atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE))
        return;
    hooked = fake_map(function, &client);
    atomic_store(&function->client, client);
    atomic_store(&function->hooked, hooked);
}

bool fake_inlines(const struct fake_function *caller, const struct fake_function *callee)
{
    BOOL should = 1;
    FAKE_RAISE(JITInlining, (uint64_t)(uintptr_t)caller, (uint64_t)(uintptr_t)callee,
               (uint64_t)(uintptr_t)&should);
    return should;
}

/* ---- the numbers of hooked calls ------------------------------------------------------------ */

static char known_file[512];

void fake_known_to(const char *path)
{
    snprintf(known_file, sizeof(known_file), "%s", path);
}

/* Appends one line for each function. Lines are written one at a time, because several runtimes
 * write to the same file. */
void fake_known_write(void)
{
    FILE *out = known_file[0] ? fopen(known_file, "ae") : NULL;
    char line[256];
    if (!out)
        return;
    setvbuf(out, NULL, _IOLBF, 0);
    for (unsigned i = 1; i <= atomic_load(&fake.n_functions) && i < FAKE_MAX_ITEMS; i++) {
        struct fake_function *f = atomic_load(&fake.functions[i]);
        uint64_t n = f ? atomic_load(&f->n_entered) : 0;
        if (!n)
            continue;
        snprintf(line, sizeof(line), "%s %s.%s %llu %llu\n", FAKECLR_VERSION,
                 f->type ? f->type->name : "", f->name, (unsigned long long)n,
                 (unsigned long long)atomic_load(&f->n_unwound));
        fputs(line, out);
    }
    fclose(out);
}
