/* SPDX-License-Identifier: MIT */
/* bench_walk.c - ns per frame of the walkers at several depths, on rbp chains without tables (as
 * JIT code has them) and on native code with tables. cc -O2 -D_GNU_SOURCE -I.
 * tests/bench/bench_walk.c sampler/{walk_fast,code_scan,insn,tables, unwind_table,cfi,elf}.c
 * -lunwind -lpthread; prints tab-separated lines. */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "sampler/tables.h"
#include "sampler/walk_fast.h"

#define MAX   1024
#define TIMES 2000

static uintptr_t   stack_lo, stack_hi, jit_lo, jit_hi;
static int         depth_wanted;
static const char *kind;

static int find_code(uintptr_t ip, uintptr_t *start)
{
    (void)start;
    return ip >= jit_lo && ip < jit_hi;
}

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static struct sxs_walk_limits limits_all(void)
{
    return (struct sxs_walk_limits){stack_lo, stack_hi, 0, MAX, find_code, NULL};
}

static void print(const char *walker, double ns, size_t frames)
{
    printf("%s\t%d\t%s\t%zu frames\t%.1f ns/frame\t%.0f ns/walk\n", kind, depth_wanted, walker,
           frames, ns / (double)frames, ns);
}

static void bench_fast(ucontext_t *uc)
{
    static uintptr_t       ips[MAX];
    enum sxs_sample_end    end;
    struct sxs_walk_limits limits = limits_all();
    size_t                 n = sxs_walk_fast(uc, &limits, ips, &end);
    double                 began = now_ns();
    for (int i = 0; i < TIMES; i++)
        n = sxs_walk_fast(uc, &limits, ips, &end);
    print("fast", (now_ns() - began) / TIMES, n);
}

static void bench_unwind(ucontext_t *uc)
{
    static void *ips[MAX];
    int          n = 0, times = TIMES / 20;
    double       began = now_ns();
    for (int i = 0; i < times; i++) {
        unw_cursor_t cursor;
        unw_init_local2(&cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME);
        for (n = 1; n < MAX && unw_step(&cursor) > 0; n++)
            ;
    }
    print("unw_step", (now_ns() - began) / times, (size_t)n);
    n = unw_backtrace(ips, MAX);
    began = now_ns();
    for (int i = 0; i < times; i++)
        n = unw_backtrace(ips, MAX);
    print("unw_backtrace", (now_ns() - began) / times, (size_t)n);
}

static uintptr_t in_handler[MAX];
static size_t    n_in_handler;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    struct sxs_walk_limits limits = limits_all();
    enum sxs_sample_end    end;
    (void)sig;
    (void)info;
    n_in_handler = sxs_walk_fast(context, &limits, in_handler, &end);
}

static void bench_signal(void)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &sa, NULL);
    raise(SIGUSR1);
    double began = now_ns();
    for (int i = 0; i < TIMES; i++)
        raise(SIGUSR1);
    print("fast+signal", (now_ns() - began) / TIMES, n_in_handler);
}

__attribute__((noinline)) static int bottom(int unused)
{
    ucontext_t uc;
    getcontext(&uc);
    bench_fast(&uc);
    bench_signal();
    bench_unwind(&uc);
    return unused;
}

__attribute__((noinline)) static int recurse(int left)
{
    return (left ? recurse(left - 1) : bottom(0)) + 1;
}

/* push rbp; mov rbp, rsp; dec edi; jz +5; call self; pop rbp; ret; call rsi; pop rbp; ret */
static const uint8_t chain[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x74, 0x07, 0xe8, 0xf3,
                                0xff, 0xff, 0xff, 0x5d, 0xc3, 0xff, 0xd6, 0x5d, 0xc3};

int main(void)
{
    static const int depths[] = {10, 30, 64, 100, 500};
    pthread_attr_t   attr;
    void            *at;
    size_t           size;
    uint8_t         *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || sxs_tables_refresh() < 0 || pthread_getattr_np(pthread_self(), &attr))
        return 1;
    pthread_attr_getstack(&attr, &at, &size);
    stack_lo = (uintptr_t)at;
    stack_hi = stack_lo + size;
    memcpy(code, chain, sizeof(chain));
    jit_lo = (uintptr_t)code;
    jit_hi = jit_lo + 4096;
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        depth_wanted = depths[i];
        kind = "rbp";
        ((int (*)(int, int (*)(int)))(uintptr_t)code)(depths[i], bottom);
        kind = "tables";
        recurse(depths[i]);
    }
    return 0;
}
