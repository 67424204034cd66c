/* SPDX-License-Identifier: MIT */
/*
 * gone_stacks.c - hosts one CLR beside coroutines whose frames lead to stacks that are gone.
 *
 * Two coroutine stacks lie side by side. The lower one is run on for a while with rbp pointing into the
 * upper one, as when one coroutine was resumed by another; then the upper one is unmapped (or loses its
 * access), and the lower one runs on. Who follows rbp from there reads memory that is not there. The
 * main thread and one more thread do this until the CLR's Main returns.
 *
 * usage: gone_stacks hand|context|guard RUNTIME-FOLDER APP.dll [ARGUMENT...]
 *   hand     hand-made stack switch, the upper stack is unmapped
 *   guard    the same, the upper stack loses its access (PROT_NONE)
 *   context  makecontext and swapcontext, the finished coroutine's stack is unmapped
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "manager/base/clock.h"
#include "tests/hosts/one_clr.h"

#define STACK  ((size_t)64 * 1024)
#define RUN_NS 30000000u /* CPU time between two changes: some 30 samples at 997 Hz */

static _Atomic int      ended;
static _Atomic unsigned rounds;

/* switch_to - runs @fn on the stack that ends at @top, with rbp = @bp. No unwind table: rbp is all
 * that a walker has to go by. */
void switch_to(void (*fn)(void), uintptr_t top, uintptr_t bp);
__asm__(".text\n"
        ".p2align 4\n"
        ".globl switch_to\n"
        ".type switch_to, @function\n"
        "switch_to:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    movq %rsp, %rbx\n"
        "    movq %rsi, %rsp\n"
        "    movq %rdx, %rbp\n"
        "    call *%rdi\n"
        "    movq %rbx, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size switch_to, . - switch_to\n");

__attribute__((noinline)) static void burn(void)
{
    uint64_t          until = sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) + RUN_NS;
    volatile unsigned x = 1;
    while (sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) < until && !atomic_load(&ended))
        for (int i = 0; i < 100000; i++)
            x = x * 1103515245u + 12345u;
}

static void must(int ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(3);
}

static void *map_at(void *at, size_t size)
{
    void *got = mmap(at, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    must(got != MAP_FAILED, "mmap");
    return got;
}

static void by_hand(int guard)
{
    char     *lower = map_at(NULL, 2 * STACK), *upper = lower + STACK;
    uintptr_t top = (uintptr_t)upper - 64, frame = (uintptr_t)upper + STACK / 2;
    while (!atomic_load(&ended)) {
        switch_to(burn, top, frame);
        if (guard)
            must(mprotect(upper, STACK, PROT_NONE) == 0, "mprotect");
        else
            must(munmap(upper, STACK) == 0, "munmap");
        switch_to(burn, top, frame);
        /* Whoever took its place meanwhile keeps it: then begin somewhere else. */
        if (guard) {
            must(mprotect(upper, STACK, PROT_READ | PROT_WRITE) == 0, "mprotect");
        } else if (mmap(upper, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != upper) {
            munmap(lower, STACK);
            lower = map_at(NULL, 2 * STACK);
            upper = lower + STACK;
            top = (uintptr_t)upper - 64;
            frame = (uintptr_t)upper + STACK / 2;
        }
        atomic_fetch_add(&rounds, 1);
    }
}

static void by_context(void)
{
    while (!atomic_load(&ended)) {
        ucontext_t back, there;
        char      *stack = map_at(NULL, STACK);
        must(getcontext(&there) == 0, "getcontext");
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = STACK;
        there.uc_link = &back;
        makecontext(&there, burn, 0);
        must(swapcontext(&back, &there) == 0, "swapcontext");
        must(munmap(stack, STACK) == 0, "munmap");
        atomic_fetch_add(&rounds, 1);
    }
}

static const char *how;

static void *work(void *arg)
{
    if (strcmp(how, "context") == 0)
        by_context();
    else
        by_hand(strcmp(how, "guard") == 0);
    return arg;
}

struct run {
    const char **argv;
    int          argc, status;
};

static void *host(void *arg)
{
    struct run *r = arg;
    r->status = one_clr_run(r->argv[0], r->argv[1], r->argc - 2, r->argv + 2);
    atomic_store(&ended, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct run r = {(const char **)(void *)(argv + 2), argc - 2, -1};
    pthread_t  clr, other;
    if (argc < 4) {
        fprintf(stderr,
                "usage: gone_stacks hand|context|guard RUNTIME-FOLDER APP.dll [ARGUMENT...]\n");
        return 2;
    }
    how = argv[1];
    must(pthread_create(&clr, NULL, host, &r) == 0, "pthread_create");
    must(pthread_create(&other, NULL, work, NULL) == 0, "pthread_create");
    work(NULL);
    pthread_join(other, NULL);
    pthread_join(clr, NULL);
    printf("coroutines: %s, status %d\n", atomic_load(&rounds) > 0 ? "rounds done" : "no round",
           r.status);
    return r.status;
}
