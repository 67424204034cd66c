/* SPDX-License-Identifier: MIT */
/* test_hooks_end.c - a user of hooks ends while other threads call its functions and the JIT asks for
 * more of them: its hooks are not called any more, and those of the other user always are. */
#include "elt/hooks_internal.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#if defined(__x86_64__)

#define THREADS   3
#define FUNCTIONS 64
#define ROUNDS    20
#define ENOUGH    2000u /* calls of each thread before the user ends, and as many afterwards */

static struct sxs_runtime rt;
static struct sxs_hooks  *h;
static struct sxs_sub     subs[3];

uint64_t hooks_end_enters, hooks_end_leaves; /* of the user that stays; changed by assembly */
void     hooks_end_enter(void), hooks_end_leave(void);

__asm__(".text\n.hidden hooks_end_enter, hooks_end_leave, hooks_end_enters, hooks_end_leaves\n"
        ".globl hooks_end_enter, hooks_end_leave\n"
        "hooks_end_enter:\n  lock incq hooks_end_enters(%rip)\n  ret\n"
        "hooks_end_leave:\n  lock incq hooks_end_leaves(%rip)\n  ret\n");

/* The users that end: one has hooks of version 1, one of version 3. */
static _Atomic uint64_t n_old;

static void old_hook(FunctionID id)
{
    (void)id;
    atomic_fetch_add(&n_old, 1);
}

uint64_t hooks_end_new;
void     hooks_end_third(void);
__asm__(".text\n.hidden hooks_end_third, hooks_end_new\n.globl hooks_end_third\n"
        "hooks_end_third:\n  lock incq hooks_end_new(%rip)\n  ret\n");

/* Calls a function with hooks as compiled code does: rsp is 8 less than a multiple of 16 in a hook. */
static void call_function(const void *entries)
{
    __asm__ volatile("mov %%rsp, %%rbx\n"
                     "and $-16, %%rsp\n"
                     "mov %0, %%r14\n"
                     "mov %%rsp, %%r15\n"
                     "call sxs_hooks_fan_enter\n"
                     "mov %0, %%rdi\n"
                     "mov %%rsp, %%rsi\n"
                     "call sxs_hooks_fan_leave\n"
                     "mov %%rbx, %%rsp\n"
                     :
                     : "r"(entries)
                     : "rbx", "r14", "r15", "rdi", "rsi", "rax", "rcx", "rdx", "r8", "r9", "r10",
                       "r11", "memory", "cc");
}

static _Atomic(const void *) functions[FUNCTIONS];
static _Atomic uint64_t      calls[THREADS];
static atomic_int            stopping;

static void *call_on(void *arg)
{
    unsigned n = (unsigned)(uintptr_t)arg;
    for (unsigned i = n; !atomic_load(&stopping); i++) {
        register const void *entries __asm__("r12") = atomic_load(&functions[i % FUNCTIONS]);
        call_function(entries);
        atomic_fetch_add(&calls[n], 1);
    }
    return NULL;
}

/* Compiles functions from number @first on: asks the mapper about new ones, and again about old
 * ones. Only every @step of the functions that are called is replaced by one of them. */
static void compile(unsigned first, unsigned step)
{
    for (unsigned i = 0; i < FUNCTIONS; i += step) {
        BOOL     hook = 0;
        UINT_PTR id = hooks_map(0x10000 + (first + i) * 16, h, &hook);
        assert_true(hook);
        atomic_store(&functions[i], (const void *)id);
    }
}

static void *compile_on(void *arg)
{
    (void)arg;
    for (unsigned first = 0; !atomic_load(&stopping); first = (first + 7) % 2048) {
        compile(first, 2);
        sched_yield();
    }
    return NULL;
}

static void add_user(unsigned i, enum sxs_hooks_kind kind, uintptr_t enter, uintptr_t leave)
{
    struct hooks_user                   *user = &h->users[h->n_users++];
    static const struct sxs_hooks_mapper none;
    subs[i].rt = &rt;
    user->sub = &subs[i];
    user->kinds = 1u << kind;
    user->kind = kind;
    user->active = 1;
    user->ask = sxs_hooks_ask_directly;
    user->hooks = (struct sxs_hooks_functions){enter, leave, 0};
    atomic_store(&user->mapper, &none);
}

static uint64_t most_calls_to_come(const uint64_t *since)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t made = atomic_load(&calls[i]) - since[i];
        left = made < ENOUGH && ENOUGH - made > left ? ENOUGH - made : left;
    }
    return left;
}

static void wait_for_calls(void)
{
    uint64_t since[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        since[i] = atomic_load(&calls[i]);
    while (most_calls_to_come(since))
        sched_yield();
}

static void run_once(void)
{
    pthread_t threads[THREADS + 1];
    uint64_t  old, third, all = 0;
    h = calloc(1, sizeof(*h));
    assert_non_null(h);
    rt.hooks = h;
    h->rt = &rt;
    h->mode = HOOKS_SHARED;
    hooks_end_enters = hooks_end_leaves = hooks_end_new = 0;
    atomic_store(&n_old, 0);
    atomic_store(&stopping, 0);
    add_user(0, SXS_HOOKS_1, (uintptr_t)old_hook, (uintptr_t)old_hook);
    add_user(1, SXS_HOOKS_3, (uintptr_t)hooks_end_enter, (uintptr_t)hooks_end_leave);
    add_user(2, SXS_HOOKS_3, (uintptr_t)hooks_end_third, (uintptr_t)hooks_end_third);
    compile(0, 1);
    for (unsigned i = 0; i < THREADS; i++) {
        atomic_store(&calls[i], 0);
        assert_int_equal(pthread_create(&threads[i], NULL, call_on, (void *)(uintptr_t)i), 0);
    }
    assert_int_equal(pthread_create(&threads[THREADS], NULL, compile_on, NULL), 0);
    wait_for_calls();
    sxs_hooks_end(&subs[0]);
    sxs_hooks_end(&subs[2]);
    wait_for_calls(); /* so all calls that were in a hook have returned */
    old = atomic_load(&n_old);
    third = __atomic_load_n(&hooks_end_new, __ATOMIC_SEQ_CST);
    assert_true(old >= ENOUGH && third >= ENOUGH);
    wait_for_calls();
    assert_int_equal(atomic_load(&n_old), old);
    assert_int_equal(__atomic_load_n(&hooks_end_new, __ATOMIC_SEQ_CST), third);
    atomic_store(&stopping, 1);
    for (unsigned i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < THREADS; i++)
        all += atomic_load(&calls[i]);
    assert_int_equal(hooks_end_enters, all);
    assert_int_equal(hooks_end_leaves, all);
    for (unsigned b = 0; b < HOOKS_BUCKETS; b++)
        for (struct hooks_record *r = atomic_load(&h->buckets[b]), *next; r; r = next) {
            next = r->next;
            free(r);
        }
    free(h);
}

static void users_end_while_their_hooks_are_called(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++)
        run_once();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(users_end_while_their_hooks_are_called)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; /* the fan-out hooks are for x86_64 only */
}

#endif
