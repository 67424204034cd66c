/* SPDX-License-Identifier: MIT */
/*
 * bench_hooks.c - measures the hooks of the tool calls alone. Assembly code calls them as code that a
 * runtime has compiled does.
 *
 * usage: bench_hooks FOLDER          FOLDER: empty; receives the file "calls"
 * Prints "bench: WORK_MODE VALUE". VALUE: ns for one call with its enter and leave hooks. WORK: fib
 * (one recursive function, so that the next call path is always the same one) or turns (a function
 * that calls two others alternately).
 */
#include <fcntl.h>
#include <unistd.h>

#include "elt/calls_hooks.h"
#include "tests/bench/bench.h"
#include "tools/calls/functions.h"
#include "tools/calls/thread_state.h"

#define FIB       16
#define FIB_CALLS 3193 /* number of calls that fib(16) makes */
#define TURNS     65536

void bench_empty(void), bench_stamp(void);
int  bench_fib(int n);
void bench_turns(unsigned n);

/* The hooks that the assembly code calls, and the client IDs that it passes to them. */
void              *bench_enter, *bench_leave;
struct sxs_called *bench_called[2];

__asm__(".text\n"
        ".globl bench_empty, bench_stamp, bench_fib, bench_turns\n"
        "bench_empty:\n"
        "  ret\n"
        ".p2align 4\n"
        "bench_stamp:\n"
        "  push %rax\n  push %rdx\n  rdtsc\n  pop %rdx\n  pop %rax\n  ret\n"
        ".p2align 4\n"
        "bench_fib:\n"
        "  push %rbx\n  push %r12\n  push %r14\n  push %r15\n  sub $8, %rsp\n"
        "  mov bench_called(%rip), %r14\n"
        "  lea 48(%rsp), %r15\n"
        "  call *bench_enter(%rip)\n"
        "  mov %edi, %ebx\n"
        "  mov %edi, %eax\n"
        "  cmp $2, %edi\n"
        "  jl 1f\n"
        "  lea -1(%rbx), %edi\n"
        "  call bench_fib\n"
        "  mov %eax, %r12d\n"
        "  lea -2(%rbx), %edi\n"
        "  call bench_fib\n"
        "  add %r12d, %eax\n"
        "1:\n"
        "  mov bench_called(%rip), %rdi\n"
        "  lea 48(%rsp), %rsi\n"
        "  call *bench_leave(%rip)\n"
        "  add $8, %rsp\n  pop %r15\n  pop %r14\n  pop %r12\n  pop %rbx\n"
        "  ret\n"
        ".macro one at\n"
        "  mov bench_called+\\at(%rip), %r14\n  mov %rsp, %r15\n"
        "  call *bench_enter(%rip)\n"
        "  mov bench_called+\\at(%rip), %rdi\n  mov %rsp, %rsi\n"
        "  call *bench_leave(%rip)\n"
        ".endm\n"
        ".p2align 4\n"
        "bench_turns:\n"
        "  push %rbx\n  push %r14\n  push %r15\n  mov %edi, %ebx\n"
        "1:\n"
        "  one 0\n  one 8\n"
        "  sub $2, %ebx\n"
        "  ja 1b\n"
        "  pop %r15\n  pop %r14\n  pop %rbx\n"
        "  ret\n");

static void fib(void *arg, unsigned n)
{
    (void)arg;
    for (unsigned i = 0; i < n; i += FIB_CALLS)
        bench_fib(FIB);
}

static void turns(void *arg, unsigned n)
{
    (void)arg;
    bench_turns(n);
}

static void set_hooks(void (*enter)(void), void (*leave)(void))
{
    memcpy(&bench_enter, &enter, sizeof(enter));
    memcpy(&bench_leave, &leave, sizeof(leave));
}

static void both(const char *mode, void (*enter)(void), void (*leave)(void))
{
    char name[64];
    set_hooks(enter, leave);
    snprintf(name, sizeof(name), "fib_%s", mode);
    bench_report(name, fib, NULL, 20 * FIB_CALLS);
    snprintf(name, sizeof(name), "turns_%s", mode);
    bench_report(name, turns, NULL, TURNS);
}

/* Writes all traced calls to the same place of the file, so that the page faults of new pages are not
 * measured. */
static struct sxs_calls_event events[2 * TURNS + 2];

static void begin_events(void)
{
    sxs_calls_state->event = events;
    sxs_calls_state->event_end = events + sizeof(events) / sizeof(*events);
    sxs_calls_state->tracing = SXS_TRACE_ON;
}

static void fib_traced(void *arg, unsigned n)
{
    (void)arg;
    for (unsigned i = 0; i < n; i += FIB_CALLS) {
        begin_events();
        bench_fib(FIB);
    }
}

static void turns_traced(void *arg, unsigned n)
{
    (void)arg;
    begin_events();
    bench_turns(n);
}

static void make_functions(struct sxs_called *called, struct sxs_calls_header *head)
{
    static struct sxs_calls_arena arena;
    for (unsigned i = 0; i < 2; i++) {
        sxs_calls_ref              ref = sxs_calls_cells(&arena, 2);
        struct sxs_calls_function *r = sxs_calls_cell(ref);
        r->next = atomic_load(&head->functions);
        r->number = i;
        atomic_store(&head->functions, ref);
        called[i] = (struct sxs_called){.number = i, .cell = ref, .record = r};
        bench_called[i] = &called[i];
    }
}

int main(int argc, char **argv)
{
    static struct sxs_called      called[2];
    const struct sxs_calls_hooks *hooks = sxs_elt_hooks();
    static struct sxs_folder folder;
    struct sxs_calls_header *head = argc != 2 || sxs_folder_open(&folder, argv[1])
                                        ? NULL
                                        : sxs_calls_file_create(&folder, 64u << 20);
    if (!head || sxs_functions_init(head) || sxs_calls_state_init(head)) {
        fprintf(stderr, "usage: bench_hooks FOLDER\n");
        return 2;
    }
    make_functions(called, head);
    both("empty", bench_empty, bench_empty);
    both("stamps", bench_stamp, bench_stamp);
    both("count", hooks[SXS_CALLS_COUNT].enter, hooks[SXS_CALLS_COUNT].leave);
    both("tree", hooks[SXS_CALLS_TREE].enter, hooks[SXS_CALLS_TREE].leave);
    if (sxs_calls_state->top != sxs_calls_state->frames)
        return 1;
    both("time", hooks[SXS_CALLS_TIME].enter, hooks[SXS_CALLS_TIME].leave);
    set_hooks(hooks[SXS_CALLS_TRACE_HOOKS].enter, hooks[SXS_CALLS_TRACE_HOOKS].leave);
    bench_report("fib_trace", fib_traced, NULL, 20 * FIB_CALLS);
    bench_report("turns_trace", turns_traced, NULL, TURNS);
    return 0;
}
