/* SPDX-License-Identifier: MIT */
/* Readers that get no memory say so. This program's own calloc() fails on demand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/events_read.h"
#include "session/read/instrument_read.h"
#include "session/read/samples_read.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifndef SXS_SANITIZED
void *__libc_calloc(size_t n, size_t size);

static int refuse;

void *calloc(size_t n, size_t size)
{
    return refuse ? NULL : __libc_calloc(n, size);
}

static void a_reader_without_memory_says_so(void **state)
{
    struct sxs_instrument_data *instrument;
    struct sxs_events_data     *events;
    struct sxs_samples         *samples;
    char                        why[3][64];
    int                         err[3];
    (void)state;
    memset(why, '?', sizeof(why));
    refuse = 1;
    err[0] = sxs_instrument_read(-1, &instrument, why[0], sizeof(why[0]));
    err[1] = sxs_events_read(-1, &events, why[1], sizeof(why[1]));
    err[2] = sxs_samples_open(-1, &samples, why[2], sizeof(why[2]));
    refuse = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(err[i], ENOMEM);
        assert_non_null(memmem(why[i], sizeof(why[i]), "memory", sizeof("memory")));
    }
}
#else
static void a_reader_without_memory_says_so(void **state)
{
    (void)state;
    skip(); /* sanitizers have their own calloc() */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_without_memory_says_so),
    };
    return cmocka_run_group_tests_name("no memory", tests, NULL, NULL);
}
