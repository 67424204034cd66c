/* SPDX-License-Identifier: MIT */
/** clrie_type_fixture.h - a creator of types, and what a signature builder has. Include it after cmocka.h and
 *  clrie_fixture.h. */
#ifndef SXS_TESTS_CLRIE_TYPE_FIXTURE_H
#define SXS_TESTS_CLRIE_TYPE_FIXTURE_H

/* A creator of the plain module's types. */
static ITypeCreator *creator_of(struct clrie_model *model)
{
    struct clrie_module *module = clrie_model_module_add(model, MODULE);
    ITypeCreator        *creator = NULL;
    assert_non_null(module);
    HR(S_OK, CALL(clrie_module_face(module), CreateTypeFactory, &creator));
    return creator;
}

static void builder_has(ISignatureBuilder *b, const uint8_t *bytes, DWORD n)
{
    BYTE        copy[256];
    const BYTE *at;
    DWORD       size = 0;
    HR(S_OK, CALL(b, GetSize, &size));
    assert_int_equal(size, n);
    HR(S_OK, CALL(b, GetCorSignature, sizeof(copy), copy, &size));
    assert_int_equal(size, n);
    assert_memory_equal(copy, bytes, n);
    HR(S_OK, CALL(b, GetCorSignaturePtr, &at));
    assert_memory_equal(at, bytes, n);
}
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

#endif
