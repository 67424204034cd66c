/* SPDX-License-Identifier: MIT */
/* Rules read from code as JIT compilers write it: each case was lost or misread once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "stackwalk/fast/code_scan.h"

static uint8_t *page;

static int setup(void **state)
{
    (void)state;
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED;
}

static struct sxs_unwind_rule scan(const uint8_t *code, size_t size, size_t at, int is_leaf)
{
    memset(page, 0xcc, 8192);
    memcpy(page + 64, code, size);
    return sxs_code_scan((uintptr_t)page + 64 + at, is_leaf, 0);
}

static void assert_return_at(struct sxs_unwind_rule rule, int offset)
{
    assert_int_equal(rule.kind, SXS_RULE_GUESS);
    assert_int_equal(rule.cfa_off, offset + 8);
}

static void code_behind_the_function_is_followed_back_into_it(void **state)
{
    static const uint8_t code[] = {
        0x53, 0x48, 0x89, 0xfb,                   /* 00 push rbx; mov rbx, rdi */
        0x75, 0x05, 0x48, 0x8b, 0x03, 0x5b, 0xc3, /* 04 jne 0b; 06 mov rax, [rbx]; pop rbx; ret */
        0xe8, 0x00, 0x01, 0x00, 0x00, 0xeb, 0xf4, /* 0b call; 10 jmp 06 */
    };
    (void)state;
    assert_return_at(scan(code, sizeof(code), 0x10, 0), 8);
}

static void a_loop_is_left_behind_its_jump(void **state)
{
    static const uint8_t code[] = {
        0x48, 0x83, 0xec, 0x38,                   /* 00 sub rsp, 56: a funclet that saves nothing */
        0xe8, 0x00, 0x01, 0x00, 0x00, 0x90,       /* 04 call; 09 nop */
        0xe8, 0x00, 0x01, 0x00, 0x00, 0xeb, 0xf8, /* 0a call; 0f jmp 09 */
        0x48, 0x83, 0xc4, 0x38, 0xc3,             /* 11 add rsp, 56; ret */
    };
    (void)state;
    assert_return_at(scan(code, sizeof(code), 0x09, 0), 56);
    assert_return_at(scan(code, sizeof(code), 0x0f, 0), 56);
}

static void a_tail_call_ends_a_function(void **state)
{
    static const uint8_t marked[] = {
        0x48, 0x8d, 0x4f, 0x0c, 0x0f, 0xbf, 0xf6, 0x8b, 0x57, 0x08,    /* lea, movsx, mov */
        0x90, 0x90, 0x90, 0x90, 0x48, 0x8d, 0x05, 0,    0,    1,    0, /* nop...; lea rax, [...] */
        0x48, 0xff, 0x20,                                              /* rex.W jmp [rax] */
    };
    static const uint8_t released[] = {0x90, 0x48, 0x83, 0xc4, 0x08,  /* nop; add rsp, 8 */
                                       0xe9, 0x00, 0x01, 0x00, 0x00}; /* jmp elsewhere */
    (void)state;
    assert_return_at(scan(marked, sizeof(marked), 0, 1), 0);
    assert_return_at(scan(released, sizeof(released), 0, 0), 8);
}

static void the_first_instruction_of_another_function_tells_a_tail_call(void **state)
{
    static const uint8_t code[] = {0x48, 0x89, 0xf7, 0xeb, 0x03, 0xcc, 0xcc, 0xcc, /* mov; jmp 8 */
                                   0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}; /* push rbp...: its own */
    (void)state;
    assert_return_at(scan(code, sizeof(code), 0, 1), 0);
}

static void a_patchpoint_is_known_by_its_call(void **state)
{
    static const uint8_t near[] = {0x48, 0x8d, 0x7d, 0x90, 0xbe, 0x35, 0, 0, 0, 0xe8, 1, 2, 3, 4};
    static const uint8_t far[] = {0x48, 0x8d, 0xbd, 0x98, 0xfe, 0xff, 0xff, 0xbe, 0xca,
                                  1,    0,    0,    0xff, 0x15, 1,    2,    3,    4};
    static const uint8_t other[] = {0x48, 0x8b, 0x7d, 0x90, 0xbe, 0x35, 0, 0, 0, 0xe8, 1, 2, 3, 4};
    (void)state;
    scan(near, sizeof(near), 0, 0);
    assert_true(sxs_code_is_patchpoint((uintptr_t)page + 64 + sizeof(near)));
    assert_false(sxs_code_is_patchpoint((uintptr_t)page + 64 + sizeof(near) - 1));
    scan(far, sizeof(far), 0, 0);
    assert_true(sxs_code_is_patchpoint((uintptr_t)page + 64 + sizeof(far)));
    scan(other, sizeof(other), 0, 0);
    assert_false(sxs_code_is_patchpoint((uintptr_t)page + 64 + sizeof(other)));
    assert_false(sxs_code_is_patchpoint(4096));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(code_behind_the_function_is_followed_back_into_it, setup),
        cmocka_unit_test_setup(a_loop_is_left_behind_its_jump, setup),
        cmocka_unit_test_setup(a_tail_call_ends_a_function, setup),
        cmocka_unit_test_setup(the_first_instruction_of_another_function_tells_a_tail_call, setup),
        cmocka_unit_test_setup(a_patchpoint_is_known_by_its_call, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
