/* SPDX-License-Identifier: MIT */
/* Readers that get no memory say so. This program's own calloc() fails on demand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/assembly.h"
#include "session/read/events_read.h"
#include "session/read/instrument_read.h"
#include "session/read/samples_read.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

/* > 0: all calls fail; < 0: each call increments it, and the call that reaches 0 fails */
static int refuse;

#ifndef SXS_SANITIZED
void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
    int now = refuse < 0 ? !++refuse : refuse;
    return now ? NULL : __libc_calloc(n, size);
}
#endif

static void a_reader_without_memory_says_so(void **state)
{
    struct sxs_instrument_data *instrument;
    struct sxs_events_data     *events;
    struct sxs_samples         *samples;
    char                        why[3][64];
    int                         err[3];
    (void)state;
    skip_if_sanitized("sanitizers have a calloc() of their own");
    memset(why, '?', sizeof(why));
    refuse = 1;
    err[0] = sxs_instrument_read(SXS_FILES_OF(-1), &instrument, why[0], sizeof(why[0]));
    err[1] = sxs_events_read(SXS_FILES_OF(-1), &events, why[1], sizeof(why[1]));
    err[2] = sxs_samples_open(SXS_FILES_OF(-1), &samples, why[2], sizeof(why[2]));
    refuse = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(err[i], ENOMEM);
        assert_non_null(memmem(why[i], sizeof(why[i]), "memory", sizeof("memory")));
    }
}

/* The assembly has one custom attribute, of a method. Its name decides whether the method has a
 * state machine. */
static void an_assembly_without_memory_for_a_name_is_not_read(void **state)
{
    static const uint8_t row[] = {1 << 5, 0, 0, 0, 0, 0}; /* parent: the first method */
    struct sxs_metadata  md = {.tables[SXS_TABLE_CUSTOM_ATTRIBUTE] = {.rows = row,
                                                                      .n_rows = 1,
                                                                      .row_size = sizeof(row),
                                                                      .widths = {2, 2, 2},
                                                                      .offsets = {0, 2, 4}}};
    struct sxs_assembly *a;
    int                  made = 0;
    (void)state;
    skip_if_sanitized("sanitizers have a calloc() of their own");
    for (int call = 1; call < 10 && !made; call++) {
        refuse = -call;
        a = sxs_assembly_new(&md);
        made = refuse < 0; /* sxs_assembly_new() made fewer calls */
        refuse = 0;
        assert_int_equal(a != NULL, made);
        sxs_assembly_free(a);
    }
    assert_true(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_without_memory_says_so),
        cmocka_unit_test(an_assembly_without_memory_for_a_name_is_not_read),
    };
    return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
