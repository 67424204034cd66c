/* SPDX-License-Identifier: MIT */
/* Tokens that are kept: of their module alone, until it is unloaded; and what is too long for it. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "manager/runtime_internal.h"
#include "instr/weave/token_cache.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LONGEST 96u

static struct sxs_runtime one = {.number = 1}, two = {.number = 2};

static struct sxs_token_key signature(struct sxs_runtime *rt, ModuleID id, const void *bytes,
                                      size_t size)
{
    return (struct sxs_token_key){{rt, id}, SXS_TOKEN_SIGNATURE, bytes, size};
}

static uint32_t known(struct sxs_runtime *rt, ModuleID id, const char *text)
{
    struct sxs_token_key key = signature(rt, id, text, strlen(text));
    return sxs_token_find(&key);
}

static void keep(struct sxs_runtime *rt, ModuleID id, const char *text, uint32_t token)
{
    struct sxs_token_key key = signature(rt, id, text, strlen(text));
    sxs_token_keep(&key, token);
}

static int forget_all(void **state)
{
    (void)state;
    sxs_tokens_forget((sxs_module){&one, 0});
    sxs_tokens_forget((sxs_module){&two, 0});
    return 0;
}

static void a_token_is_of_one_module_kind_and_text(void **state)
{
    struct sxs_token_key key;
    (void)state;
    assert_int_equal(known(&one, 0x10, "abc"), 0);
    keep(&one, 0x10, "abc", 0x11000001);
    assert_int_equal(known(&one, 0x10, "abc"), 0x11000001);
    assert_int_equal(known(&one, 0x10, "abd"), 0);
    assert_int_equal(known(&one, 0x10, "ab"), 0);
    assert_int_equal(known(&one, 0x18, "abc"), 0);
    assert_int_equal(known(&two, 0x10, "abc"), 0); /* its modules may have the same ids */
    key = signature(&one, 0x10, "abc", 3);
    key.kind = SXS_TOKEN_TYPE;
    assert_int_equal(sxs_token_find(&key), 0);
    keep(&one, 0x10, "abc", 0x11000002);
    assert_int_equal(known(&one, 0x10, "abc"), 0x11000002);
}

static void a_module_id_that_comes_again_begins_with_none(void **state)
{
    (void)state;
    keep(&one, 0x10, "abc", 1);
    keep(&one, 0x18, "abc", 2);
    keep(&two, 0x20, "abc", 3);
    sxs_tokens_forget((sxs_module){&two, 0x10}); /* another's */
    assert_int_equal(known(&one, 0x10, "abc"), 1);
    sxs_tokens_forget((sxs_module){&one, 0x10});
    assert_int_equal(known(&one, 0x10, "abc"), 0);
    assert_int_equal(known(&one, 0x18, "abc"), 2);
    assert_int_equal(known(&two, 0x20, "abc"), 3);
    keep(&one, 0x10, "abc", 4); /* the next module there */
    assert_int_equal(known(&one, 0x10, "abc"), 4);
    sxs_tokens_forget((sxs_module){&one, 0});
    assert_int_equal(known(&one, 0x10, "abc"), 0);
    assert_int_equal(known(&one, 0x18, "abc"), 0);
    assert_int_equal(known(&two, 0x20, "abc"), 3);
}

static void what_is_too_long_is_not_kept(void **state)
{
    char                 bytes[LONGEST + 1];
    struct sxs_token_key key = signature(&one, 0x10, bytes, LONGEST);
    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    sxs_token_keep(&key, 7);
    assert_int_equal(sxs_token_find(&key), 7);
    key.size = LONGEST + 1;
    sxs_token_keep(&key, 8);
    assert_int_equal(sxs_token_find(&key), 0);
    key.size = LONGEST;
    assert_int_equal(sxs_token_find(&key), 7);
    key.size = 0;
    assert_int_equal(sxs_token_find(&key), 0);
    sxs_token_keep(&key, 9);
    assert_int_equal(sxs_token_find(&key), 9);
}

/* More than there are places: each is answered with its own token, or none. */
static void of_many_each_is_right_or_gone(void **state)
{
    unsigned there = 0;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        struct sxs_token_key key = signature(&one, 8 * (i % 7 + 1), &i, sizeof(i));
        sxs_token_keep(&key, i + 1);
        assert_int_equal(sxs_token_find(&key), i + 1); /* the latest stays */
    }
    for (uint32_t i = 0; i < 5000; i++) {
        struct sxs_token_key key = signature(&one, 8 * (i % 7 + 1), &i, sizeof(i));
        uint32_t             token = sxs_token_find(&key);
        assert_true(!token || token == i + 1);
        there += token != 0;
    }
    assert_in_range(there, 100, 512);
}

static void *keep_and_forget(void *arg)
{
    struct sxs_runtime *rt = arg;
    for (uint32_t i = 0; i < 4000; i++) {
        struct sxs_token_key key = signature(rt, 0x10, &i, 2); /* little endian: 0 to 3999 */
        uint32_t             token = sxs_token_find(&key);
        if (token && token != (i | (uint32_t)rt->number << 24))
            return "another's token";
        sxs_token_keep(&key, i | (uint32_t)rt->number << 24);
        if (i % 100 == 0)
            sxs_tokens_forget((sxs_module){rt, 0x10});
    }
    return NULL;
}

static void threads_get_their_own(void **state)
{
    struct sxs_runtime *of[] = {&one, &two, &one, &two};
    pthread_t           threads[4];
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_and_forget, of[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_token_is_of_one_module_kind_and_text, forget_all),
        cmocka_unit_test_setup(a_module_id_that_comes_again_begins_with_none, forget_all),
        cmocka_unit_test_setup(what_is_too_long_is_not_kept, forget_all),
        cmocka_unit_test_setup(of_many_each_is_right_or_gone, forget_all),
        cmocka_unit_test_setup(threads_get_their_own, forget_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
