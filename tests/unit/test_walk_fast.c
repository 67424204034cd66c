/* SPDX-License-Identifier: MIT */
/* test_walk_fast.c - at every single instruction of a known call chain the walk gives that chain.
 *
 * The trap flag raises SIGTRAP after each instruction. The handler walks from there and compares
 * with the chain the functions themselves noted (__builtin_return_address) and with libunwind. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "sampler/tables.h"
#include "sampler/walk_clock.h"
#include "sampler/walk_fast.h"

#define NO_FP   __attribute__((noinline, noclone, optimize("omit-frame-pointer")))
#define WITH_FP __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))
#if defined(__clang__)
#undef NO_FP
#undef WITH_FP
#define NO_FP   __attribute__((noinline))
#define WITH_FP __attribute__((noinline))
#endif

static uintptr_t    stack_lo, stack_hi;
static volatile int sink;

static struct {
    uintptr_t anchor; /* return address into the test: every walk has to reach it */
    unsigned  steps, anchored, ended, same_as_unwind, unwind_reached;
    unsigned  printed;
    uintptr_t jit_lo, jit_hi;
} seen;

static int find_code(uintptr_t ip, uintptr_t *start)
{
    (void)start;
    return ip >= seen.jit_lo && ip < seen.jit_hi;
}

static size_t walk_unwind(ucontext_t *uc, uintptr_t *ips, size_t max)
{
    unw_cursor_t cursor;
    size_t       n = 0;
    if (unw_init_local2(&cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME))
        return 0;
    do {
        unw_word_t ip = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (!ip)
            break;
        ips[n++] = ip;
    } while (n < max && unw_step(&cursor) > 0);
    return n;
}

static int index_of(const uintptr_t *ips, size_t n, uintptr_t ip)
{
    for (size_t i = 0; i < n; i++)
        if (ips[i] == ip)
            return (int)i;
    return -1;
}

static void report(const char *what, const uintptr_t *a, size_t n_a, const uintptr_t *b, size_t n_b)
{
    if (seen.printed++ > 4)
        return;
    print_message("%s:", what);
    for (size_t i = 0; i < n_a && i < 8; i++)
        print_message(" %lx", a[i]);
    print_message(" | libunwind:");
    for (size_t i = 0; i < n_b && i < 8; i++)
        print_message(" %lx", b[i]);
    print_message("\n");
}

static void on_step(int sig, siginfo_t *info, void *context)
{
    ucontext_t            *uc = context;
    uintptr_t              ips[64], unwound[64];
    struct sxs_walk_limits limits = {stack_lo, stack_hi, 0, 64, find_code, NULL, 0};
    enum sxs_sample_end    end;
    size_t                 n = sxs_walk_fast(uc, &limits, ips, &end);
    size_t                 m = walk_unwind(uc, unwound, 64);
    int at = index_of(ips, n, seen.anchor), unwind_at = index_of(unwound, m, seen.anchor);
    (void)sig;
    (void)info;
    seen.steps++;
    seen.anchored += at > 0;
    seen.ended += end == SXS_SAMPLE_END_BOTTOM;
    seen.unwind_reached += unwind_at > 0;
    seen.same_as_unwind += at == unwind_at && at > 0 && !memcmp(ips, unwound, (size_t)at * 8);
    if (at <= 0 || end != SXS_SAMPLE_END_BOTTOM || (at != unwind_at && unwind_at > 0))
        report("differs", ips, n, unwound, m);
}

/* -- the chain -------------------------------------------------------------------------------- */

NO_FP static int leaf(int a)
{
    return a * 3 + sink;
}

NO_FP static int frameless(int a)
{
    volatile char room[40];
    room[a & 31] = (char)a;
    return leaf(a) + room[a & 31];
}

WITH_FP static int framed(int a, const char *text)
{
    volatile char room[72];
    room[a & 63] = 1;
    return frameless(a) + (int)strlen(text) + (memchr(text, 'x', 5) != NULL) + room[a & 63];
}

NO_FP static int realigned(int a)
{
    volatile char room[64] __attribute__((aligned(64)));
    room[a & 63] = 2;
    return framed(a, "twelve bytes") + room[a & 63];
}

NO_FP static int variable(int a)
{
    volatile char *room = __builtin_alloca((size_t)(a & 7) * 16 + 16);
    char           text[32];
    room[0] = 3;
    snprintf(text, sizeof(text), "%d %s", a, "abc");
    return realigned(a) + room[0] + text[0];
}

/* Written out: within a function of the compiler's, which may count its frame from rbp, no directive
 * would tell rightly where the frame is while the flags lie on the stack. */
void trace_on(void);
void trace_off(void);
#define SET_FLAGS(name, how)                                                                     \
    __asm__(".pushsection .text\n" #name ": .cfi_startproc\n"                                    \
            "pushfq\n .cfi_adjust_cfa_offset 8\n " how ", (%rsp)\n popfq\n"                      \
            ".cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n .size " #name ", . - " #name "\n" \
            ".type " #name ", @function\n .popsection")
SET_FLAGS(trace_on, "orq $0x100");
SET_FLAGS(trace_off, "andq $~0x100");

static int (*volatile body)(int);

/* The call in here is the anchor: it stays on the stack at every step. */
__attribute__((noinline)) static int traced(int a)
{
    seen.anchor = (uintptr_t)__builtin_return_address(0);
    trace_on();
    int r = body(a);
    trace_off();
    return r;
}

static void trace(int (*function)(int), int a)
{
    body = function;
    sink = traced(a) & 0;
}

static int setup(void **state)
{
    struct sigaction sa = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    pthread_attr_t   attr;
    void            *at;
    size_t           size;
    (void)state;
    memset(&seen, 0, sizeof(seen));
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &at, &size);
    pthread_attr_destroy(&attr);
    stack_lo = (uintptr_t)at;
    stack_hi = stack_lo + size;
    return sxs_tables_refresh() < 0 || sigaction(SIGTRAP, &sa, NULL);
}

static void every_instruction_of_native_code_gives_its_chain(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++)
        trace(variable, a);
    print_message(
        "%u instructions: %u reach the caller, %u the bottom; libunwind reaches it in %u, "
        "the same frames in %u\n",
        seen.steps, seen.anchored, seen.ended, seen.unwind_reached, seen.same_as_unwind);
    assert_true(seen.steps > 1000);
    assert_int_equal(seen.anchored, seen.steps);
    assert_int_equal(seen.ended, seen.steps);
    assert_int_equal(seen.same_as_unwind, seen.unwind_reached);
}

/* As RyuJIT writes it: a frame with rbp and saved registers, one without, a leaf stub. */
static const uint8_t jit_code[] = {
    /* 00 */ 0x55, 0x41, 0x57, 0x53, 0x48, 0x83, 0xec,
    0x10,                                              /* push rbp, r15, rbx; sub rsp, 16 */
    /* 08 */ 0x48, 0x8d, 0x6c, 0x24, 0x20,             /* lea rbp, [rsp + 32] */
    /* 0d */ 0x89, 0xfb, 0xe8, 0x0c, 0x00, 0x00, 0x00, /* mov ebx, edi; call 20 */
    /* 14 */ 0x01, 0xd8, 0x48, 0x83, 0xc4, 0x10, 0x5b,
    0x41,          0x5f,                         /* add; add rsp; pop rbx, r15 */
    /* 1d */ 0x5d, 0xc3, 0xcc,                   /* pop rbp; ret */
    /* 20 */ 0x50, 0xe8, 0x0a, 0x00, 0x00, 0x00, /* push rax; call 30 */
    /* 26 */ 0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0xcc,
    0xcc,          0xcc, 0xcc, /* nop; add rsp, 8; ret */
    /* 30 */ 0x8d, 0x47, 0x01, 0x85, 0xff, 0x74, 0x02,
    0xff,          0xc0, 0xc3, /* lea; test; jz; inc; ret */
};

static void every_instruction_of_code_without_tables_gives_its_chain(void **state)
{
    uint8_t *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(code != MAP_FAILED);
    memcpy(code, jit_code, sizeof(jit_code));
    seen.jit_lo = (uintptr_t)code;
    seen.jit_hi = seen.jit_lo + 4096;
    seen.printed = 0; /* libunwind is not at home here */
    trace((int (*)(int))(uintptr_t)code, 4);
    print_message(
        "%u instructions: %u reach the caller, %u the bottom; libunwind reaches it in %u, "
        "the same frames in %u\n",
        seen.steps, seen.anchored, seen.ended, seen.unwind_reached, seen.same_as_unwind);
    assert_true(seen.steps > 18);
    assert_int_equal(seen.anchored, seen.steps);
    assert_int_equal(seen.ended, seen.steps);
    munmap(code, 4096);
    sxs_walk_forget();
}

static uintptr_t           in_handler[64];
static size_t              n_in_handler;
static enum sxs_sample_end end_in_handler;

static void on_inner(int sig)
{
    ucontext_t             uc;
    struct sxs_walk_limits limits = {stack_lo, stack_hi, 0, 64, NULL, NULL, 0};
    (void)sig;
    // NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): takes no lock in glibc
    getcontext(&uc);
    // NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): made for handlers
    n_in_handler = sxs_walk_fast(&uc, &limits, in_handler, &end_in_handler);
}

static void a_signal_frame_is_passed(void **state)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    (void)state;
    signal(SIGUSR1, on_inner);
    raise(SIGUSR1);
    assert_int_equal(end_in_handler, SXS_SAMPLE_END_BOTTOM);
    assert_true(index_of(in_handler, n_in_handler, here) > 2);
}

static void limits_hold(void **state)
{
    ucontext_t             uc;
    uintptr_t              ips[4];
    enum sxs_sample_end    end;
    struct sxs_walk_limits limits = {stack_lo, stack_hi, 0, 2, NULL, NULL, 0};
    (void)state;
    getcontext(&uc);
    assert_int_equal(sxs_walk_fast(&uc, &limits, ips, &end), 2);
    assert_int_equal(end, SXS_SAMPLE_END_CUT);
    limits.max = 0;
    assert_int_equal(sxs_walk_fast(&uc, &limits, ips, &end), 0);
    limits.max = 4;
    limits.stack_hi = (uintptr_t)uc.uc_mcontext.gregs[REG_RSP]; /* not on that stack */
    assert_int_equal(sxs_walk_fast(&uc, &limits, ips, &end), 1);
    assert_int_equal(end, SXS_SAMPLE_END_OFF_STACK);
    limits.stack_hi = (uintptr_t)uc.uc_mcontext.gregs[REG_RSP] + 16; /* ends within the frame */
    assert_true(sxs_walk_fast(&uc, &limits, ips, &end) <= 2);
    assert_int_not_equal(end, SXS_SAMPLE_END_BOTTOM);
    limits.stack_hi = stack_hi;
    limits.cycles = 1; /* over at once; noticed with the first frame that is not cached */
    sxs_walk_forget();
    assert_true(sxs_walk_fast(&uc, &limits, ips, &end) <= 2);
    assert_int_equal(end, SXS_SAMPLE_END_TIMEOUT);
}

/* The counter went on for 5 ms, more than a walk may take. */
static void time_off_the_processor_does_not_end_a_walk(void **state)
{
    struct sxs_walk_clock clock, unlimited;
    (void)state;
    sxs_walk_clock_start(&clock, 1000000);
    sxs_walk_clock_start(&unlimited, 0);
    usleep(5000);
    assert_false(sxs_walk_clock_is_over(&clock));
    usleep(5000);
    assert_false(sxs_walk_clock_is_over(&clock));
    usleep(5000);
    assert_false(sxs_walk_clock_is_over(&clock));
    usleep(5000);
    assert_true(sxs_walk_clock_is_over(&clock)); /* each look takes this long: it is the walk */
    assert_false(sxs_walk_clock_is_over(&unlimited));
}

static void garbage_registers_do_no_harm(void **state)
{
    ucontext_t             good, uc;
    uintptr_t              ips[64];
    enum sxs_sample_end    end;
    static uint64_t        seed = 7;
    struct sxs_walk_limits limits = {stack_lo, stack_hi, 0, 64, NULL, NULL, 0};
    (void)state;
    getcontext(&good);
    for (int i = 0; i < 200000; i++) {
        uc = good;
        for (int r = 0; r < 3; r++) {
            static const int regs[3] = {REG_RIP, REG_RSP, REG_RBP};
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            if (seed >> 62 == 0)
                // NOLINTNEXTLINE(bugprone-misplaced-widening-cast): garbage is what is wanted
                uc.uc_mcontext.gregs[regs[r]] = (greg_t)(seed * 0x9e3779b97f4a7c15u);
            else if (seed >> 62 == 1)
                uc.uc_mcontext.gregs[regs[r]] += (greg_t)((seed >> 30) % 4096);
            else if (seed >> 62 == 2 && r)
                uc.uc_mcontext.gregs[regs[r]] = (greg_t)(stack_hi - (seed >> 30) % 65536);
        }
        assert_in_range(sxs_walk_fast(&uc, &limits, ips, &end), 1, 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_instruction_of_native_code_gives_its_chain, setup),
        cmocka_unit_test_setup(every_instruction_of_code_without_tables_gives_its_chain, setup),
        cmocka_unit_test_setup(a_signal_frame_is_passed, setup),
        cmocka_unit_test_setup(limits_hold, setup),
        cmocka_unit_test(time_off_the_processor_does_not_end_a_walk),
        cmocka_unit_test_setup(garbage_registers_do_no_harm, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
