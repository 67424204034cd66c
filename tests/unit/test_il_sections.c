/* SPDX-License-Identifier: MIT */
/* A body whose clauses come in thousands of sections takes memory in proportion to its size. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "include/sxs_il.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N_SECTIONS 6000u
#define CODE_SIZE  4u
#define SECTIONS   (12u + CODE_SIZE)

/* nop nop nop ret, and N_SECTIONS small sections with one finally clause each. */
static size_t make_body(uint8_t *b)
{
    static const uint8_t head[SECTIONS] = {0x0b, 0x30, 8, 0, CODE_SIZE, 0, 0, 0,
                                           0,    0,    0, 0, 0,         0, 0, 0x2a};
    static const uint8_t section[16] = {0x81, 16, 0, 0, /* clauses, more follow */
                                        2,    0,  0, 0, 1, 1, 0, 1, 0, 0, 0, 0};
    memcpy(b, head, sizeof(head));
    for (size_t i = 0; i < N_SECTIONS; i++)
        memcpy(b + SECTIONS + i * sizeof(section), section, sizeof(section));
    b[SECTIONS + (N_SECTIONS - 1) * sizeof(section)] = 1;
    return SECTIONS + N_SECTIONS * sizeof(section);
}

static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void a_section_for_each_clause_takes_little_memory(void **state)
{
    uint8_t            *bytes = calloc(1, SECTIONS + N_SECTIONS * 16);
    size_t              size = make_body(bytes), before = in_use(), took;
    struct sxs_il_body *body = sxs_il_new();
    struct sxs_il_error error;
    (void)state;
    assert_int_equal(sxs_il_read(body, bytes, size, &error), 0);
    took = in_use() - before;
    print_message("a body of %zu KiB took %zu KiB\n", size >> 10, took >> 10);
    assert_int_equal(body->n_clauses, N_SECTIONS);
    assert_in_range(took, 0, 40 * size);
    sxs_il_free(body);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_for_each_clause_takes_little_memory),
    };
    return cmocka_run_group_tests_name("il sections", tests, NULL, NULL);
}
