/* SPDX-License-Identifier: MIT */
/* test_table_hash.c - tables stay fast whatever the texts are that others put into them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/output/strings.h"
#include "cmd/output/table_hash.h"

enum { MANY = 15000, SIZE = 16 };

/* The values are those of CPython 3.11, whose hash() of bytes is SipHash-1-3; PYTHONHASHSEED=0. */
static void it_is_siphash_1_3(void **state)
{
    const uint64_t key[2] = {0, 0};
    (void)state;
    assert_true(sxs_table_hash_with(key, "abc", 3) == 0xc03bc3a0042630f2);
    assert_true(sxs_table_hash_with(key, "a longer text of 26 bytes..", 27) == 0x86b3df947b3bd2be);
}

static void another_seed_gives_another_value(void **state)
{
    (void)state;
    assert_true(sxs_table_hash("abc", 3, 1) == sxs_table_hash("abc", 3, 1));
    assert_false(sxs_table_hash("abc", 3, 1) == sxs_table_hash("abc", 3, 2));
    assert_true(sxs_table_key[2] & 1);
}

/* Another process has another key. */
static void two_processes_have_different_keys(void **state)
{
    char line[2][64] = {{0}}, command[600], self[512];
    (void)state;
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(len > 0);
    self[len] = '\0';
    snprintf(command, sizeof(command), "SHOW_TABLE_KEY=1 '%s'", self);
    for (int i = 0; i < 2; i++) {
        FILE *out = popen(command, "r");
        assert_non_null(out);
        assert_non_null(fgets(line[i], sizeof(line[i]), out));
        assert_int_equal(pclose(out), 0);
    }
    assert_string_not_equal(line[0], line[1]);
}

/* Returns eight letters that spell @number. */
static uint64_t word_of(uint32_t number)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= ((uint64_t)'A' + (number >> 4 * i & 15)) << 8 * i;
    return word;
}

static bool is_printable(uint64_t word)
{
    for (; word; word >>= 8)
        if ((word & 0xff) < ' ' || (word & 0xff) > '~')
            return false;
    return true;
}

/* Makes texts that all have one value of sxs_hash_bytes(): the second half of each takes back what the
 * first did. */
static void make_colliding(char (*texts)[SIZE])
{
    uint64_t start = 1 ^ (SIZE * 0x9e3779b97f4a7c15u);
    uint32_t number = 0;
    for (size_t n = 0; n < MANY; number++) {
        uint64_t first = word_of(number), h = (start ^ first) * 0xff51afd7ed558ccdu;
        uint64_t second = h ^ h >> 32 ^ 0x5a5a5a5a5a5a5a5au;
        if (second >> 56 == 0 || !is_printable(second))
            continue;
        memcpy(texts[n], &first, 8);
        memcpy(texts[n++] + 8, &second, 8);
    }
}

static double seconds_to_add(const char (*texts)[SIZE])
{
    struct sxs_strings all = {0};
    struct timespec    from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (size_t i = 0; i < MANY; i++)
        sxs_strings_add(&all, texts[i], SIZE);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    assert_int_equal(all.n, MANY + 1);
    sxs_strings_free(&all);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static void texts_made_to_meet_in_one_slot_take_no_longer(void **state)
{
    char(*texts)[SIZE] = calloc(MANY, SIZE), line[SIZE + 1];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(line, sizeof(line), "ordinary %07zu", i);
        memcpy(texts[i], line, SIZE);
    }
    double ordinary = seconds_to_add((const char(*)[SIZE])texts);
    make_colliding(texts);
    assert_true(sxs_hash_bytes(texts[0], SIZE, 1) == sxs_hash_bytes(texts[MANY - 1], SIZE, 1));
    double colliding = seconds_to_add((const char(*)[SIZE])texts);
    print_message("# %d texts: ordinary %.4f s, made to collide %.4f s\n", MANY, ordinary,
                  colliding);
    assert_true(colliding < 10 * ordinary + 0.05);
    free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_siphash_1_3),
        cmocka_unit_test(another_seed_gives_another_value),
        cmocka_unit_test(two_processes_have_different_keys),
        cmocka_unit_test(texts_made_to_meet_in_one_slot_take_no_longer),
    };
    if (getenv("SHOW_TABLE_KEY")) {
        printf("%016llx%016llx\n", (unsigned long long)sxs_table_key[0],
               (unsigned long long)sxs_table_key[1]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
