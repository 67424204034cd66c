/* SPDX-License-Identifier: MIT */
/* The action trace on a method whose values cannot be told: it is refused, and nothing of it stays. */
#include <malloc.h>
#include <string.h>

#include "manager/runtime_internal.h"
#include "rewrite/trace.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TIMES 1000

static int refused(void)
{
    static const uint8_t      no_signature[] = {0xff};
    static struct sxs_runtime runtime = {.number = 1};
    static struct sxs_method  m;
    struct sxs_marker         marker = {.site = 1};
    struct sxs_action         trace = {.kind = SXS_ACTION_TRACE};
    memset(&m, 0, sizeof(m));
    m.sig = no_signature;
    m.sig_size = sizeof(no_signature);
    m.tokens.module = (sxs_module){&runtime, 0x10};
    return sxs_trace(&m, &marker, &trace) == -1 && !strcmp(m.why, "its signature cannot be read");
}

/* Where the allocator is a sanitizer's, it finds what is lost itself. */
static void a_refused_method_keeps_no_memory(void **state)
{
    size_t before;
    int    n_refused = 0;
    (void)state;
    assert_true(refused()); /* what is allocated once */
    before = mallinfo2().uordblks;
    for (int i = 0; i < TIMES; i++)
        n_refused += refused();
    assert_int_equal(n_refused, TIMES);
    assert_in_range(mallinfo2().uordblks, 0, before + TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_method_keeps_no_memory),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
