/* SPDX-License-Identifier: MIT */
/* Values as text, of types made up: no runtime is there. What cannot be read is said. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/unit/sanitized.h"

#include "base/mask.h"
#include "tests/unit/dice.h"
#include "values/show.h"

static struct sxs_formatter formatter = {.length_at = 8, .chars_at = 12};
static char              text[512];

static const char *shown(struct sxs_type_desc *desc, const void *value, uint32_t size)
{
    struct sxs_line line = sxs_line_in(text, sizeof(text));
    sxs_show_at(&line, &formatter, desc, (COR_PRF_FUNCTION_ARGUMENT_RANGE){(UINT_PTR)value, size});
    return text;
}

#define SHOWN(type, kind, value) \
    shown(&(struct sxs_type_desc){.element = SXS_ELEMENT_##kind}, &(type){value}, sizeof(type))

static struct sxs_type_desc of_type(const struct sxs_type *t)
{
    struct sxs_type_desc s = {.element = SXS_ELEMENT_VALUETYPE, .name = t->name};
    atomic_store(&s.type, t);
    return s;
}

static void scalars(void **state)
{
    (void)state;
    assert_string_equal(SHOWN(uint8_t, BOOLEAN, 1), "true");
    assert_string_equal(SHOWN(int8_t, I1, -128), "-128");
    assert_string_equal(SHOWN(uint16_t, U2, 65535), "65535");
    assert_string_equal(SHOWN(int64_t, I8, INT64_MIN), "-9223372036854775808");
    assert_string_equal(SHOWN(uint64_t, U8, UINT64_MAX), "18446744073709551615");
    assert_string_equal(SHOWN(uint16_t, CHAR, 'x'), "'x'");
    assert_string_equal(SHOWN(uint16_t, CHAR, '\''), "'\\''");
    assert_string_equal(SHOWN(uint16_t, CHAR, 0xd800), "'\\uD800'");
    assert_string_equal(SHOWN(float, R4, 0.1f), "0.1");
    assert_string_equal(SHOWN(float, R4, 16777217.0f), "16777216");
    assert_string_equal(SHOWN(double, R8, 0.1), "0.1");
    assert_string_equal(SHOWN(double, R8, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(SHOWN(double, R8, -1.0 / 0.0), "-inf");
    assert_string_equal(SHOWN(uint64_t, I, 255), "0xff");
    assert_string_equal(SHOWN(uint64_t, PTR, 0), "0x0");
    assert_string_equal(SHOWN(uint32_t, TYPEDBYREF, 0), "<?: typed reference>");
    assert_string_equal(shown(&(struct sxs_type_desc){.element = SXS_ELEMENT_I8}, text, 4),
                        "<?: 8 bytes, 4 reported>");
    assert_string_equal(shown(&(struct sxs_type_desc){.element = SXS_ELEMENT_I4}, NULL, 4),
                        "<?: address not reported>");
    assert_string_equal(shown(&(struct sxs_type_desc){.name = "type parameter"}, text, 8),
                        "<?: type parameter>");
    assert_string_equal(
        shown(&(struct sxs_type_desc){.element = SXS_ELEMENT_VALUETYPE, .name = "A.B"}, text, 8),
        "<?: A.B>");
}

static void forms(void **state)
{
    static const struct {
        enum sxs_type_form form;
        uint64_t           value[2];
        const char        *text;
    } all[] = {
        {SXS_FORM_DECIMAL, {0, 0}, "0"},
        {SXS_FORM_DECIMAL, {UINT64_C(0x80020000), 150}, "-1.50"},
        {SXS_FORM_DECIMAL, {UINT64_C(0xffffffff00000000), UINT64_MAX}, "79228162514264337593543950335"},
        {SXS_FORM_DECIMAL, {UINT64_C(28) << 16, 1}, "0.0000000000000000000000000001"},
        {SXS_FORM_DECIMAL, {UINT64_C(255) << 16, 1}, NULL}, /* none, but no more than that */
        {SXS_FORM_DATE, {0, 0}, "0001-01-01T00:00:00"},
        {SXS_FORM_DATE, {UINT64_C(3155378975999999999), 0}, "9999-12-31T23:59:59.9999999"},
        {SXS_FORM_DATE, {UINT64_C(621355968000000000) | UINT64_C(1) << 62, 0}, "1970-01-01T00:00:00Z"},
        {SXS_FORM_DATE, {UINT64_MAX, 0}, NULL},
        {SXS_FORM_TIME_SPAN, {(uint64_t)INT64_MIN, 0}, "-10675199.02:48:05.4775808"},
        {SXS_FORM_TIME_SPAN, {10000000, 0}, "00:00:01"},
        {SXS_FORM_GUID, {UINT64_C(0x6677445500112233), UINT64_C(0xffeeddccbbaa9988)},
         "00112233-4455-6677-8899-aabbccddeeff"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct sxs_type  t = {.name = "t", .kind = SXS_TYPE_STRUCT, .form = all[i].form,
                              .members = (struct sxs_member[1]){{0}},
                              .size = all[i].form == SXS_FORM_DATE || all[i].form == SXS_FORM_TIME_SPAN ? 8 : 16};
        struct sxs_type_desc s = of_type(&t);
        shown(&s, all[i].value, 16);
        if (all[i].text)
            assert_string_equal(text, all[i].text);
    }
}

static void enums(void **state)
{
    struct sxs_literal all[] = {{"None", 0}, {"A", 1}, {"B", 2}, {"AB", 3}, {"D", 8}};
    struct sxs_type    t = {.name = "E", .kind = SXS_TYPE_ENUM, .element = SXS_ELEMENT_U1, .size = 1,
                            .literals = all, .n_literals = 5};
    struct sxs_type_desc s = of_type(&t);
    (void)state;
    assert_string_equal(shown(&s, "\x02", 1), "B");
    assert_string_equal(shown(&s, "\x0a", 1), "10");
    t.is_flags = 1;
    assert_string_equal(shown(&s, "\x0a", 1), "B | D");
    assert_string_equal(shown(&s, "\x0b", 1), "AB | D");
    assert_string_equal(shown(&s, "\x1b", 1), "27");
    assert_string_equal(shown(&s, "\x00", 1), "None");
}

static void structs(void **state)
{
    struct sxs_type   inner = {.name = "I", .kind = SXS_TYPE_STRUCT, .size = 4, .n_members = 1};
    struct sxs_member one = {"n", 0, {.element = SXS_ELEMENT_I4}};
    struct sxs_member two[3] = {{"<P>k__BackingField", 0, {.element = SXS_ELEMENT_I2}}, {"i", 4, {0}},
                                {"far", 6, {.element = SXS_ELEMENT_I8}}};
    struct sxs_type   outer = {.name = "O", .kind = SXS_TYPE_STRUCT, .size = 8, .n_members = 3, .members = two};
    struct sxs_type_desc s = of_type(&outer);
    const int32_t     value[2] = {7, -1};
    (void)state;
    inner.members = &one;
    two[1].desc = of_type(&inner);
    assert_string_equal(shown(&s, value, 8), "{P = 7, i = {n = -1}, far = <?: layout>}");
    one.desc = of_type(&inner); /* in itself: it ends */
    shown(&s, value, 8);
    assert_non_null(strstr(text, "{...}"));
    outer.size = 100000;
    assert_string_equal(shown(&s, value, 8), "<?: 100000 bytes, 8 reported>");
    outer.size = 8;
    outer.gone = 1; /* unloaded, and no other has its name */
    assert_string_equal(shown(&s, value, 8), "<?: O>");
}

/* A string object at the end of a page that nothing follows. */
static void strings(void **state)
{
    unsigned char   *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sxs_type_desc s = {.element = SXS_ELEMENT_STRING};
    uintptr_t        object = (uintptr_t)page + 4096 - 16;
    struct sxs_line  line = sxs_line_in(text, sizeof(text));
    (void)state;
    assert_true(page != MAP_FAILED && mprotect(page + 4096, 4096, PROT_NONE) == 0);
    sxs_line_string(&line, u"a\"\\\n\0\x1f\x7f\xd83d\xde00\xde00", 10, 10);
    assert_string_equal(text, "\"a\\\"\\\\\\n\\0\\u001F\\u007F\xf0\x9f\x98\x80\\uDE00\"");
    line = sxs_line_in(text, sizeof(text));
    sxs_line_string(&line, u"ab\xd83d", 3, 1000); /* no half of a pair at the end of a part */
    assert_string_equal(text, "\"ab\"...[1000]");
    for (int mask = SXS_MASK_TEXT; mask <= SXS_MASK_ALL; mask++) {
        assert_int_equal(sxs_mask_begin(sxs_mask_name((enum sxs_mask)mask)), 0);
        line = sxs_line_in(text, sizeof(text));
        sxs_line_string(&line, u"ab", 2, 1000);
        assert_string_equal(text, mask == SXS_MASK_TEXT ? "string(1000)" : SXS_MASKED);
    }
    sxs_mask_begin("off");
    assert_string_equal(shown(&s, &(uintptr_t){0}, 8), "null");
    assert_string_equal(shown(&s, &(uintptr_t){1}, 8), "<?: unreadable>");
    assert_string_equal(shown(&s, &(uintptr_t){(uintptr_t)page + 4096}, 8), "<?: unreadable>");
    assert_string_equal(shown(&s, &(uintptr_t){UINTPTR_MAX - 3}, 8), "<?: unreadable>");
    memcpy(page + 4096 - 8, &(uint32_t){100}, 4); /* a length beyond the page */
    assert_string_equal(shown(&s, &object, 8), "<?: type not known>");
    munmap(page, 8192);
}

static void references(void **state)
{
    struct sxs_type_desc target = {.element = SXS_ELEMENT_I4};
    struct sxs_type_desc s = {.element = SXS_ELEMENT_BYREF, .of = &target},
                         o = {.element = SXS_ELEMENT_OBJECT};
    int32_t          value = 5;
    uintptr_t        fake[4] = {0, 0, 0, 0};
    (void)state;
    assert_string_equal(shown(&s, &(uintptr_t){(uintptr_t)&value}, 8), "5");
    assert_string_equal(shown(&s, &(uintptr_t){0}, 8), "null");
    assert_string_equal(shown(&s, &(uintptr_t){8}, 8), "<?: unreadable>");
    s.of = NULL;
    assert_string_equal(shown(&s, &(uintptr_t){(uintptr_t)&value}, 8), "<?: type>");
    fake[0] = (uintptr_t)fake; /* neither a known class nor one that derives from Array */
    assert_string_equal(shown(&o, &(uintptr_t){(uintptr_t)fake}, 8), "<?: type not known>");
    fake[0] = 4096;
    assert_string_equal(shown(&o, &(uintptr_t){(uintptr_t)fake}, 8), "<?: type not known>");
}

/* Any bytes as a value of any type: a text, terminated, within its room. */
static void any_bytes(void **state)
{
    static const enum sxs_type_form forms_of[] = {SXS_FORM_FIELDS, SXS_FORM_NULLABLE, SXS_FORM_DECIMAL,
                                                  SXS_FORM_DATE, SXS_FORM_TIME_SPAN, SXS_FORM_GUID,
                                                  SXS_FORM_SPAN};
    uint64_t bytes[8];
    (void)state;
    for (int n = 0; n < 20000; n++) {
        struct sxs_type_desc any = {.element = (uint8_t)roll(0x22), .name = "x"}, by_ref = any;
        struct sxs_member members[2] = {{"a", (uint32_t)roll(40), any}, {"b", (uint32_t)roll(40), any}};
        struct sxs_type   t = {.name = "T", .kind = (enum sxs_type_kind)roll(5), .form = forms_of[roll(7)],
                               .element = (uint8_t)roll(0x22), .size = (uint32_t)roll(65),
                               .n_members = (uint32_t)roll(3), .members = members};
        struct sxs_type_desc s = of_type(&t);
        size_t            cap = 8 + roll(500);
        struct sxs_line   line = sxs_line_in(text, cap);
        by_ref.of = roll(2) ? &s : NULL;
        if (roll(2))
            members[1].desc = by_ref;
        if (any.element == SXS_ELEMENT_VALUETYPE)
            members[0].desc = s;
        for (int i = 0; i < 8; i++)
            bytes[i] = roll(3) ? roll(UINT64_MAX) : roll(2) ? (uint64_t)(uintptr_t)bytes : roll(10);
        memset(text, 'x', sizeof(text));
        text[0] = '\0';
        sxs_show_at(&line, &formatter, &s, (COR_PRF_FUNCTION_ARGUMENT_RANGE){(UINT_PTR)bytes, 64});
        assert_true(memchr(text, '\0', cap) != NULL && strlen(text) == line.text.len);
    }
}

/* ---- stack ------------------------------------------------------------------------------------ */

#define STACK (256u << 10)
#define PAINT 0xa5

/* Values in values: each kind holds one of the next. */
#define NEST_MAX 8u
enum { BY_REF, SPAN, STRUCT, LARGE, NULLABLE, N_NESTS };

struct nest {
    struct sxs_type   type;
    struct sxs_member members[2];
    struct sxs_type_desc desc, of; /* of: what it holds */
};

static struct nest nests[NEST_MAX + 1];
static uint64_t    nested[64]; /* every kind finds a pointer and a length here, or a number */

static void make_nest(struct nest *n, unsigned kind, struct sxs_type_desc inner)
{
    uint32_t size = kind == LARGE ? sizeof(nested) : 16;
    memset(n, 0, sizeof(*n));
    n->of = inner;
    n->desc = (struct sxs_type_desc){.element = SXS_ELEMENT_BYREF, .of = &n->of};
    if (kind == BY_REF)
        return;
    n->type = (struct sxs_type){.name = "N", .kind = SXS_TYPE_STRUCT, .size = size, .members = n->members};
    n->type.n_members = kind == STRUCT || kind == LARGE ? 1 : 2;
    n->members[0] = (struct sxs_member){"m", 0, inner};
    if (kind == SPAN) {
        n->type.form = SXS_FORM_SPAN;
        n->members[0].desc = n->desc; /* of a by-ref to @inner */
        n->members[1] = (struct sxs_member){"n", 8, {.element = SXS_ELEMENT_I4}};
    } else if (kind == NULLABLE) {
        n->type.form = SXS_FORM_NULLABLE;
        n->members[1] = (struct sxs_member){"v", 0, inner};
    }
    n->desc = of_type(&n->type);
}

/* All of NEST_MAX kinds in each other, around a number whose text takes much of libc's stack. */
static void *show_all_nests(void *unused)
{
    uint32_t all = 1;
    (void)unused;
    nested[0] = (uint64_t)(uintptr_t)nested;
    nested[1] = 1;
    for (unsigned i = 0; i < NEST_MAX; i++)
        all *= N_NESTS;
    for (uint32_t k = 0; k < all; k += 7) { /* no divisor of it: all kinds at every place */
        uint32_t kinds = k;
        nests[NEST_MAX].desc = (struct sxs_type_desc){.element = SXS_ELEMENT_R8};
        for (unsigned i = NEST_MAX; i-- > 0; kinds /= N_NESTS)
            make_nest(&nests[i], kinds % N_NESTS, nests[i + 1].desc);
        shown(&nests[0].desc, nested, sizeof(nested));
    }
    return NULL;
}

static void *show_all_forms(void *unused)
{
    static struct sxs_member two[2] = {{"a", 0, {.element = SXS_ELEMENT_R8}}, {"b", 8, {.element = SXS_ELEMENT_R8}}};
    static struct sxs_type   inner = {.name = "I", .kind = SXS_TYPE_STRUCT, .size = 16, .members = two, .n_members = 2};
    static struct sxs_member one[1] = {{"i", 0, {.element = SXS_ELEMENT_VALUETYPE, .name = "I"}}};
    static struct sxs_type   middle = {.name = "M", .kind = SXS_TYPE_STRUCT, .size = 16, .members = one, .n_members = 1};
    static double            value[2] = {0.1, -1e300};
    static const void       *at = value;
    struct sxs_type_desc of = of_type(&middle), by_ref = {.element = SXS_ELEMENT_BYREF, .of = &of};
    atomic_store(&one[0].desc.type, &inner);
    shown(&by_ref, &at, sizeof(at));
    return unused;
}

static size_t stack_used(void *(*f)(void *))
{
    unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t      thread;
    size_t         untouched = 0;
    assert_true(stack != MAP_FAILED);
    memset(stack, PAINT, STACK);
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, f, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    while (untouched < STACK && stack[untouched] == PAINT)
        untouched++;
    munmap(stack, STACK);
    return STACK - untouched;
}

static void *do_nothing(void *unused)
{
    return unused;
}

static void *print_a_number(void *unused)
{
    char number[64];
    (void)unused;
    assert_int_equal(snprintf(number, sizeof(number), "%.17g", 0.1) > 0, 1);
    return NULL;
}

/* Hooks run on the program's stacks. What libc takes to print a number is not ours. */
static void values_take_little_stack(void **state)
{
    size_t base, libc, all, nest;
    (void)state;
    skip_under_thread_sanitizer("it refuses small stacks");
    print_a_number(NULL);
    show_all_forms(NULL);
    assert_string_equal(text, "{i = {a = 0.1, b = -1e+300}}");
    base = stack_used(do_nothing);
    libc = stack_used(print_a_number) - base;
    all = stack_used(show_all_forms) - base;
    nest = stack_used(show_all_nests) - base;
    print_message("%zu bytes, %zu for the deepest values, of these libc's %zu\n", all, nest, libc);
#ifndef __SANITIZE_ADDRESS__
    assert_true(all - libc < SXS_SHOW_STACK);
    assert_true(nest - libc < SXS_SHOW_STACK);
#endif
}

/* By-refs to by-refs, which no compiler writes, and values too large for copies of all of them. */
static void what_lies_too_deep_is_not_shown(void **state)
{
    (void)state;
    nested[0] = (uint64_t)(uintptr_t)nested;
    nests[NEST_MAX].desc = (struct sxs_type_desc){.element = SXS_ELEMENT_U8};
    for (unsigned i = NEST_MAX; i-- > 0;)
        make_nest(&nests[i], BY_REF, nests[i + 1].desc);
    assert_string_equal(shown(&nests[0].desc, nested, 8), "{...}");
    assert_string_equal(shown(&nests[NEST_MAX - 4].desc, nested, 8) + 1, text + 1);
    assert_null(strstr(text, "..."));
    for (unsigned i = NEST_MAX; i-- > 0;)
        make_nest(&nests[i], i & 1 ? LARGE : BY_REF, nests[i + 1].desc);
    assert_string_equal(shown(&nests[0].desc, nested, 8), "{m = {m = {...}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars), cmocka_unit_test(values_take_little_stack),
        cmocka_unit_test(what_lies_too_deep_is_not_shown), cmocka_unit_test(forms), cmocka_unit_test(enums),
        cmocka_unit_test(structs), cmocka_unit_test(strings), cmocka_unit_test(references),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
