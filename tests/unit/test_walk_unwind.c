/* SPDX-License-Identifier: MIT */
/* test_walk_unwind.c - the walk by libunwind finds the callers, by unwind tables alone, and does not
 * wait for the loader's lock. */
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/walkers.h"

enum { MAX = 64 };

static uintptr_t callers[3]; /* the return addresses, innermost first */

struct stack {
    uintptr_t           ips[MAX];
    size_t              n;
    enum sxs_sample_end end;
};

/* Without frame pointers, so that rbp does not lead to the callers. */
#define NO_FP __attribute__((noinline, optimize("omit-frame-pointer")))
#if defined(__clang__)
#undef NO_FP
#define NO_FP __attribute__((noinline))
#endif

static volatile int sink;

NO_FP static void walk_here(struct stack *stack)
{
    ucontext_t             here;
    pthread_attr_t         attr;
    void                  *lo;
    size_t                 size;
    struct sxs_walk_limits limits = {.max = MAX};
    callers[0] = (uintptr_t)__builtin_return_address(0);
    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstack(&attr, &lo, &size), 0);
    pthread_attr_destroy(&attr);
    assert_int_equal(getcontext(&here), 0);
    limits.stack_lo = (uintptr_t)here.uc_mcontext.gregs[REG_RSP];
    limits.stack_hi = (uintptr_t)lo + size;
    stack->n = sxs_walkers_walk(SXS_WALKER_UNWIND, &here, &limits, stack->ips, &stack->end);
}

NO_FP static void inner(struct stack *stack)
{
    callers[1] = (uintptr_t)__builtin_return_address(0);
    walk_here(stack);
    sink++;
}

NO_FP static void outer(struct stack *stack)
{
    callers[2] = (uintptr_t)__builtin_return_address(0);
    inner(stack);
    sink++;
}

static void check_walk(void)
{
    struct stack stack;
    outer(&stack);
    assert_true(stack.n > 4);
    for (size_t i = 0; i < 3; i++)
        if (stack.ips[i + 1] != callers[i])
            fail_msg("frame %zu is %#zx, expected %#zx", i + 1, (size_t)stack.ips[i + 1],
                     (size_t)callers[i]);
    assert_int_equal(stack.end, SXS_SAMPLE_END_BOTTOM);
}

static int prepare(void **state)
{
    (void)state;
    sxs_tables_refresh();
    return sxs_walkers_prepare(SXS_WALKER_UNWIND);
}

static void callers_are_found(void **state)
{
    (void)state;
    check_walk();
}

static pthread_mutex_t walking = PTHREAD_MUTEX_INITIALIZER;
static atomic_int      is_held;

/* Keeps the loader's lock until the walk is over. */
static int while_loader_is_locked(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info;
    (void)size;
    (void)arg;
    is_held = 1;
    pthread_mutex_lock(&walking);
    pthread_mutex_unlock(&walking);
    return 1;
}

static void *hold_loader(void *arg)
{
    dl_iterate_phdr(while_loader_is_locked, arg);
    return NULL;
}

static void it_does_not_wait_for_the_loader(void **state)
{
    pthread_t holder;
    (void)state;
    alarm(60);
    pthread_mutex_lock(&walking);
    assert_int_equal(pthread_create(&holder, NULL, hold_loader, NULL), 0);
    while (!is_held)
        usleep(1000);
    check_walk();
    pthread_mutex_unlock(&walking);
    assert_int_equal(pthread_join(holder, NULL), 0);
    alarm(0);
}

/* A stack that ends in unmapped memory, or whose reads are refused, ends the walk. */
static void a_stack_that_is_cut_ends_the_walk(void **state)
{
    ucontext_t             here;
    uintptr_t              ips[MAX];
    enum sxs_sample_end    end;
    struct sxs_walk_limits limits = {.max = MAX, .checked = 1};
    (void)state;
    assert_int_equal(getcontext(&here), 0);
    here.uc_mcontext.gregs[REG_RSP] = 4096;
    here.uc_mcontext.gregs[REG_RBP] = 4096;
    limits.stack_lo = 4096;
    limits.stack_hi = 65536;
    assert_int_equal(sxs_walkers_walk(SXS_WALKER_UNWIND, &here, &limits, ips, &end), 1);
    assert_int_not_equal(end, SXS_SAMPLE_END_BOTTOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_found),
        cmocka_unit_test(it_does_not_wait_for_the_loader),
        cmocka_unit_test(a_stack_that_is_cut_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
