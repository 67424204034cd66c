/* SPDX-License-Identifier: MIT */
/* test_instrumented_scan.c - when a module is unloaded, or searched for outdated methods, the instrumented methods of other
 * modules are not accessed. Both hold the lock that compilations of every runtime wait for. In this test, the records of
 * another module's methods lie in pages without access, so that each access is counted. The test's own calloc() puts them
 * there. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "manager/runtime_internal.h"
#include "rejit/methods/instrumented.h"
#include "session/write/instrument_write.h"
#include "tests/unit/instrument_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

#define N_OTHERS 500u
#define N_PAGES  2048u           /* a method takes two: one for its rules */
#define SHARED   (N_OTHERS / 20) /* so many of the others may be in the same buckets */
#define SEARCHED 0x1000
#define OTHERS   0x2000

static char        *pages; /* NULL: calloc() works as usual */
static size_t       page_size;
static unsigned     n_pages;
static volatile int n_accesses; /* to pages without access */

#ifndef SXS_SANITIZED
extern void                                 *__libc_calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    if (!pages || n_pages == N_PAGES || n * size > page_size)
        return __libc_calloc(n, size);
    return pages + n_pages++ * page_size;
}
#endif

static void count_access(int sig, siginfo_t *info, void *context)
{
    char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(page_size - 1));
    (void)sig, (void)context;
    n_accesses++;
    if (mprotect(at, page_size, PROT_READ | PROT_WRITE) != 0)
        _exit(98); /* a fault at another address */
}

static struct sxs_runtime           runtime = {.number = 1};
static const struct sxs_rule        one = {.name = "one", .identity = 1};
static const struct sxs_rule *const ones = &one;

static struct sxs_instrumented_key key_of(ModuleID module, mdToken token)
{
    return (struct sxs_instrumented_key){{&runtime, module}, token};
}

static void want(ModuleID module, mdToken token, struct sxs_plan *plan)
{
    assert_int_equal(sxs_instrumented_want(key_of(module, token),
                                           module == SEARCHED ? "searched" : "others", "T.M", plan,
                                           &ones, 1),
                     1);
}

static void hide(char *all)
{
    assert_int_equal(mprotect(all, N_PAGES * page_size, PROT_NONE), 0);
    n_accesses = 0;
}

static void a_module_is_searched_and_unloaded_without_access_to_others(void **state)
{
    struct sxs_plan            *plan;
    struct sxs_instrumented_key gone[4];
    struct sigaction on_fault = {.sa_sigaction = count_access, .sa_flags = SA_SIGINFO}, before;
    char            *all;
    int              searched, ended;
    (void)state;
    skip_if_sanitized("sanitizers have their own calloc()");
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    all =
        mmap(NULL, N_PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    plan = sxs_plan_new(NULL, 1);
    assert_non_null(plan);
    want(SEARCHED, 0x06000001, plan);
    want(SEARCHED, 0x06000002, plan);
    pages = all;
    for (mdToken i = 1; i <= N_OTHERS; i++)
        want(OTHERS, 0x06000000 + i, plan);
    pages = NULL;
    assert_true(n_pages > N_OTHERS && n_pages < N_PAGES);

    assert_int_equal(sigaction(SIGSEGV, &on_fault, &before), 0);
    hide(all);
    assert_int_equal(sxs_instrumented_is_wanted(key_of(OTHERS, 0x06000001)), 1);
    assert_true(n_accesses > 0); /* accesses are counted */
    hide(all);
    assert_int_equal(sxs_instrumented_drop_outdated(key_of(SEARCHED, 0).module, 2, gone, 4), 2);
    searched = n_accesses;
    hide(all);
    sxs_instrumented_set_unloaded(key_of(SEARCHED, 0).module);
    ended = n_accesses;
    assert_int_equal(mprotect(all, N_PAGES * page_size, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);

    print_message("accesses to %u other methods: %d in the search, %d at the unload\n", N_OTHERS,
                  searched, ended);
    assert_in_range(searched, 0, SHARED);
    assert_in_range(ended, 0, SHARED);
    assert_int_equal(sxs_instrumented_is_wanted(key_of(OTHERS, N_OTHERS | 0x06000000)), 1);
    sxs_plan_unref(plan); /* the other methods still hold it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_is_searched_and_unloaded_without_access_to_others),
    };
    return cmocka_run_group_tests_name("scan of instrumented methods", tests, make_folder,
                                       remove_folder);
}
