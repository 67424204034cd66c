/* SPDX-License-Identifier: MIT */
/* test_user.c - which user IDs name one user, by the text of /proc/self/uid_map. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/user.h"

#define ALL "         0          0 4294967295\n"

static void every_user_is_known_where_all_are_mapped(void **state)
{
    (void)state;
    assert_true(sxs_user_is_known_in(0, ALL, 65534));
    assert_true(sxs_user_is_known_in(65534, ALL, 65534));
    assert_true(sxs_user_is_known_in(65534, NULL, 65534)); /* no user namespaces */
    assert_true(sxs_user_is_known_in(65534, "0 0 65534\n65534 65534 4294901761\n", 65534));
}

static void the_overflow_user_is_not_known_where_users_lack(void **state)
{
    static const char *const maps[] = {
        "",
        "         0       1000          1\n",
        "     65534       1000          1\n",
        "0 100000 65536\n",
        "0 0 4294967294\n",
        "0 1000 1\n1 100000 65536\n",
        "garbage",
        "1 2\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        assert_false(sxs_user_is_known_in(65534, maps[i], 65534));
        assert_true(sxs_user_is_known_in(0, maps[i], 65534));
        assert_false(sxs_user_is_known_in(4711, maps[i], 4711)); /* /proc/sys/kernel/overflowuid */
    }
}

static void this_process_knows_its_own_user(void **state)
{
    (void)state;
    assert_true(sxs_user_is_known(0));
    assert_true(sxs_user_is_known(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_user_is_known_where_all_are_mapped),
        cmocka_unit_test(the_overflow_user_is_not_known_where_users_lack),
        cmocka_unit_test(this_process_knows_its_own_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
