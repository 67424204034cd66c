/* SPDX-License-Identifier: MIT */
/* test_sites_scan.c - the end of a module, and the search for what is outdated in it, look at that module's sites alone.
 * All of it is done under the one lock that compilations of every runtime wait for. The sites of another module lie in
 * pages without access here, so each look at one of them is counted. This program's own calloc() puts them there. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "manager/runtime_internal.h"
#include "record/instrument_write.h"
#include "rewrite/sites.h"
#include "tests/unit/instrument_fixture.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

#define N_OTHERS 500u
#define N_PAGES  2048u           /* a site takes two: its rules are allocated too */
#define SHARED   (N_OTHERS / 20) /* of the others, so many may be in the same lists of a table */
#define MINE     0x1000
#define OTHERS   0x2000

static char        *pages; /* NULL: calloc() is as usual */
static size_t       page_size;
static unsigned     n_pages;
static volatile int n_looks; /* at pages without access */

#ifndef SXS_SANITIZED
extern void                                 *__libc_calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    if (!pages || n_pages == N_PAGES || n * size > page_size)
        return __libc_calloc(n, size);
    return pages + n_pages++ * page_size;
}
#endif

static void look(int sig, siginfo_t *info, void *context)
{
    char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(page_size - 1));
    (void)sig, (void)context;
    n_looks++;
    if (mprotect(at, page_size, PROT_READ | PROT_WRITE) != 0)
        _exit(98); /* another fault, or the test's own */
}

static struct sxs_runtime           runtime = {.number = 1};
static const struct sxs_rule        one = {.name = "one", .identity = 1};
static const struct sxs_rule *const ones = &one;

static struct sxs_site_key key_of(ModuleID module, mdToken token)
{
    return (struct sxs_site_key){{&runtime, module}, token};
}

static void want(ModuleID module, mdToken token, struct sxs_plan *plan)
{
    assert_int_equal(sxs_sites_want(key_of(module, token), module == MINE ? "mine" : "others",
                                    "T.M", plan, &ones, 1),
                     1);
}

static void hide(char *all)
{
    assert_int_equal(mprotect(all, N_PAGES * page_size, PROT_NONE), 0);
    n_looks = 0;
}

static void a_module_is_searched_and_ends_without_a_look_at_others(void **state)
{
    struct sxs_plan    *plan = sxs_plan_new(NULL, 1);
    struct sxs_site_key gone[4];
    struct sigaction    on_fault = {.sa_sigaction = look, .sa_flags = SA_SIGINFO}, before;
    char               *all;
    int                 searched, ended;
    (void)state;
    skip_if_sanitized("sanitizers have a calloc() of their own");
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    all =
        mmap(NULL, N_PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    want(MINE, 0x06000001, plan);
    want(MINE, 0x06000002, plan);
    pages = all;
    for (mdToken i = 1; i <= N_OTHERS; i++)
        want(OTHERS, 0x06000000 + i, plan);
    pages = NULL;
    assert_true(n_pages > N_OTHERS && n_pages < N_PAGES);

    assert_int_equal(sigaction(SIGSEGV, &on_fault, &before), 0);
    hide(all);
    assert_int_equal(sxs_sites_wanted(key_of(OTHERS, 0x06000001)), 1);
    assert_true(n_looks > 0); /* they are counted */
    hide(all);
    assert_int_equal(sxs_sites_outdated(key_of(MINE, 0).module, 2, gone, 4), 2);
    searched = n_looks;
    hide(all);
    sxs_sites_unloaded(key_of(MINE, 0).module);
    ended = n_looks;
    assert_int_equal(mprotect(all, N_PAGES * page_size, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);

    print_message("looks at %u other sites: %d in the search, %d at the end\n", N_OTHERS, searched,
                  ended);
    assert_in_range(searched, 0, SHARED);
    assert_in_range(ended, 0, SHARED);
    assert_int_equal(sxs_sites_wanted(key_of(OTHERS, N_OTHERS | 0x06000000)), 1);
    sxs_plan_unref(plan); /* the others keep it, and their pages */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_is_searched_and_ends_without_a_look_at_others),
    };
    return cmocka_run_group_tests_name("scan of sites", tests, make_folder, remove_folder);
}
