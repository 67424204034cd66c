/* SPDX-License-Identifier: MIT */
/* Locals that are added to a method: after those it has, however their number is written. */
#include <string.h>

#include "manager/runtime_internal.h"
#include "instr/weave/method.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint8_t old[16], made[64];
static ULONG   old_size, made_size;

static HRESULT give_signature(IMetaDataImport2 *self, mdSignature token, PCCOR_SIGNATURE *sig,
                              ULONG *size)
{
    (void)self;
    assert_int_equal(token, 0x11000001);
    *sig = old;
    *size = old_size;
    return S_OK;
}

static HRESULT take_signature(IMetaDataEmit2 *self, PCCOR_SIGNATURE sig, ULONG size,
                              mdSignature *token)
{
    (void)self;
    memcpy(made, sig, size);
    made_size = size;
    *token = 0x11000002;
    return S_OK;
}

/* Adds one string to the locals in `old`; returns its number, the new signature is in `made`. */
static int add_string(uint16_t n_locals)
{
    static const uint8_t        string = 0x0e;
    static struct sxs_runtime   runtime = {.number = 1};
    static IMetaDataImport2Vtbl import_vtbl = {.GetSigFromToken = give_signature};
    static IMetaDataEmit2Vtbl   emit_vtbl = {.GetTokenFromSig = take_signature};
    IMetaDataImport2            import = {&import_vtbl};
    IMetaDataEmit2              emit = {&emit_vtbl};
    static struct sxs_method    m;
    int                         number;
    memset(&m, 0, sizeof(m));
    m.body = sxs_il_new();
    m.body->locals = 0x11000001;
    m.il.n_locals = n_locals;
    m.tokens.module = (sxs_module){&runtime, 0x10};
    m.tokens.import = &import;
    m.tokens.emit = &emit;
    number = sxs_method_add_locals(&m, &string, 1, 1);
    sxs_method_free(&m);
    return number;
}

static void a_number_written_in_more_bytes_than_it_needs_is_read_as_it_is(void **state)
{
    static const uint8_t two_bytes[] = {0x07, 0x80, 0x02, 0x08, 0x0d}; /* 2: int32, float64 */
    static const uint8_t expected[] = {0x07, 0x03, 0x08, 0x0d, 0x0e};
    (void)state;
    old_size = sizeof(two_bytes);
    memcpy(old, two_bytes, sizeof(two_bytes));
    assert_int_equal(add_string(2), 2);
    assert_int_equal(made_size, sizeof(expected));
    assert_memory_equal(made, expected, sizeof(expected));
}

static void the_usual_number_too(void **state)
{
    static const uint8_t one_byte[] = {0x07, 0x01, 0x08};
    static const uint8_t expected[] = {0x07, 0x02, 0x08, 0x0e};
    (void)state;
    old_size = sizeof(one_byte);
    memcpy(old, one_byte, sizeof(one_byte));
    assert_int_equal(add_string(1), 1);
    assert_int_equal(made_size, sizeof(expected));
    assert_memory_equal(made, expected, sizeof(expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_written_in_more_bytes_than_it_needs_is_read_as_it_is),
        cmocka_unit_test(the_usual_number_too),
    };
    return cmocka_run_group_tests_name("method", tests, NULL, NULL);
}
