/* SPDX-License-Identifier: MIT */
/* coroutines - a host that switches stacks, and unmaps them after use.
 *
 * coroutines ucontext|handmade|threads: "ucontext" switches by makecontext and swapcontext,
 * "handmade" by the assembly below, "threads" does the latter on four threads concurrently. The
 * last word of each stack is at the end of its mapping. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { STACK = 16384, COROUTINES = 200, THREADS = 4 };

struct coroutine {
    char      *map;
    void      *sp;     /* stack pointer of a suspended hand-made coroutine */
    void      *caller; /* stack pointer of its suspended caller */
    ucontext_t context, caller_context;
    long       sum;
};

static _Thread_local struct coroutine *current;
static const char                     *how;

/* Pushes the callee-saved registers, stores the stack pointer to @save, and resumes the stack
 * @to. */
void switch_stack(void **save, void *to);
__asm__(".globl switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n"
        ".size switch_stack, . - switch_stack\n");

static __attribute__((noinline)) long burn(int depth)
{
    volatile long sum = 0;

    if (depth > 0)
        sum = burn(depth - 1);
    for (int i = 0; i < 20000; i++)
        sum += i;
    return sum;
}

static void yield_back(struct coroutine *self)
{
    if (!strcmp(how, "ucontext"))
        swapcontext(&self->context, &self->caller_context);
    else
        switch_stack(&self->sp, self->caller);
}

/* Runs on the coroutine's stack: works, yields, works, then yields forever. */
static void body(void)
{
    struct coroutine *self = current;

    self->sum = burn(5);
    yield_back(self);
    self->sum += burn(3);
    for (;;)
        yield_back(self);
}

static void prepare(struct coroutine *co)
{
    memset(co, 0, sizeof(*co));
    co->map = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(how, "ucontext")) {
        getcontext(&co->context);
        co->context.uc_stack.ss_sp = co->map;
        co->context.uc_stack.ss_size = STACK;
        makecontext(&co->context, body, 0);
        return;
    }
    void **top = (void **)(co->map + STACK);
    *--top = NULL; /* return address of body(), at 8 below a multiple of 16 */
    *--top = (void *)body;
    top -= 6; /* six callee-saved registers */
    co->sp = top;
}

static void resume(struct coroutine *co)
{
    current = co;
    if (!strcmp(how, "ucontext"))
        swapcontext(&co->caller_context, &co->context);
    else
        switch_stack(&co->caller, co->sp);
}

static void *run(void *argument)
{
    const struct hosting_guest *guest = argument;
    intptr_t                    good = 0;
    long                        wanted = 10 * (20000L * 19999 / 2);

    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine co;
        prepare(&co);
        resume(&co);
        if (i % 20 == 0)
            good += guest->compute(1000) == 499500 && guest->faults(1) == 1 ? 0 : -1000;
        resume(&co);
        munmap(co.map, STACK);
        good += co.sum == wanted;
    }
    return (void *)good;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    void     *result;
    int       good = 0;

    how = argc > 1 ? argv[1] : "ucontext";
    hosting_start();
    int n = !strcmp(how, "threads") ? THREADS : 1;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)hosting_guest(i % hosting_len()));
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], &result);
        good += (int)(intptr_t)result;
    }
    good += (int)(intptr_t)run((void *)(uintptr_t)hosting_guest(0));
    hosting_claim(good == (n + 1) * COROUTINES, "%d coroutines ended", good);
    hosting_claim(hosting_work(1) == 0, "work");
    return hosting_end();
}
