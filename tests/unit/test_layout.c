/* SPDX-License-Identifier: MIT */
/* test_layout.c - the table of layouts, and field signatures; layouts of real classes are read in
 * tests/integration/exceptions.sh and calls_await.sh. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "values/layout_internal.h"

static char rooms[2];
#define RT(i) ((struct sxs_runtime *)(void *)&rooms[i]) /* compared only */

static struct sxs_layout *layout(int rt, ClassID id)
{
    struct sxs_layout *l = calloc(1, sizeof(*l) + 2 * sizeof(l->fields[0]));
    assert_non_null(l);
    l->rt = RT(rt);
    l->id = id;
    l->n_fields = 2;
    l->fields[0] = (struct sxs_field){.name = "same", .offset = 8, .in = id + 1};
    l->fields[1] = (struct sxs_field){.name = "same", .offset = 16, .in = id};
    return l;
}

static void a_class_is_found_by_runtime_and_id(void **state)
{
    const struct sxs_layout *a = sxs_layout_keep(layout(0, 0x1000));
    const struct sxs_layout *b = sxs_layout_keep(layout(1, 0x1000));
    (void)state;
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(sxs_layout_find(RT(0), 0x1000), a);
    assert_ptr_equal(sxs_layout_find(RT(1), 0x1000), b);
    assert_null(sxs_layout_find(RT(0), 0x1008));
}

static void the_first_of_two_layouts_holds(void **state)
{
    const struct sxs_layout *a = sxs_layout_keep(layout(0, 0x2000));
    (void)state;
    assert_ptr_equal(sxs_layout_keep(layout(0, 0x2000)), a);
}

static void a_class_that_is_gone_may_come_again(void **state)
{
    const struct sxs_layout *a = sxs_layout_keep(layout(0, 0x3000)), *b;
    (void)state;
    sxs_layout_forget((sxs_class){RT(0), 0x3000});
    sxs_layout_forget((sxs_class){RT(0), 0x3000});
    assert_null(sxs_layout_find(RT(0), 0x3000));
    assert_int_equal(a->id, 0x3000); /* readable for good */
    b = sxs_layout_keep(layout(0, 0x3000));
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(sxs_layout_find(RT(0), 0x3000), b);
}

static void a_field_of_the_class_itself_hides_an_inherited_one(void **state)
{
    const struct sxs_layout *a = sxs_layout_keep(layout(0, 0x4000));
    (void)state;
    assert_int_equal(sxs_layout_field(a, "same")->offset, 16);
    assert_null(sxs_layout_field(a, "other"));
}

static void the_first_note_of_a_class_holds(void **state)
{
    const struct sxs_layout *a = sxs_layout_keep(layout(0, 0x5000));
    char                     first, second;
    (void)state;
    assert_null(sxs_layout_note(a));
    assert_int_equal(sxs_layout_set_note(a, &first), 0);
    assert_int_equal(sxs_layout_set_note(a, &second), -1); /* the caller frees it */
    assert_ptr_equal(sxs_layout_note(a), &first);
}

#define MANY 5000
static _Atomic int kept;

static void *look(void *arg)
{
    while (atomic_load(&kept) < MANY)
        for (int i = 0, n = atomic_load(&kept); i < n; i++)
            if (sxs_layout_find(RT(0), 0x10000 + 8 * (ClassID)i) == NULL)
                *(int *)arg = 1;
    return NULL;
}

static void readers_find_all_while_the_table_grows(void **state)
{
    pthread_t reader[2];
    int       missed[2] = {0, 0};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, look, &missed[i]), 0);
    for (int i = 0; i < MANY; i++) {
        assert_non_null(sxs_layout_keep(layout(0, 0x10000 + 8 * (ClassID)i)));
        atomic_store(&kept, i + 1);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(reader[i], NULL);
    assert_int_equal(missed[0] + missed[1], 0);
}

static void the_type_lies_behind_the_modifiers(void **state)
{
    static const uint8_t plain[] = {0x06, 0x08};
    static const uint8_t modified[] = {0x06, 0x1f, 0x81, 0x01, 0x20, 0x05, 0x0e};
    static const uint8_t generic[] = {0x06, 0x15, 0x11, 0x08, 0x01, 0x13, 0x00};
    size_t               after = 0;
    (void)state;
    assert_int_equal(sxs_field_element(plain, sizeof(plain), &after), ELEMENT_TYPE_I4);
    assert_int_equal(after, 2);
    assert_int_equal(sxs_field_element(modified, sizeof(modified), &after), ELEMENT_TYPE_STRING);
    assert_int_equal(after, sizeof(modified));
    assert_int_equal(sxs_field_element(generic, sizeof(generic), &after), ELEMENT_TYPE_GENERICINST);
    assert_int_equal(after, 2);
}

static void what_is_no_field_is_refused(void **state)
{
    static const uint8_t method[] = {0x20, 0x00, 0x01}, cut[] = {0x06, 0x1f, 0xc0, 0x01};
    size_t               after = 0;
    (void)state;
    assert_int_equal(sxs_field_element(method, sizeof(method), &after), -1);
    for (size_t n = 0; n <= sizeof(cut); n++)
        assert_int_equal(sxs_field_element(cut, n, &after), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_found_by_runtime_and_id),
        cmocka_unit_test(the_first_of_two_layouts_holds),
        cmocka_unit_test(a_class_that_is_gone_may_come_again),
        cmocka_unit_test(a_field_of_the_class_itself_hides_an_inherited_one),
        cmocka_unit_test(the_first_note_of_a_class_holds),
        cmocka_unit_test(readers_find_all_while_the_table_grows),
        cmocka_unit_test(the_type_lies_behind_the_modifiers),
        cmocka_unit_test(what_is_no_field_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
