/* SPDX-License-Identifier: MIT */
/** clrie_calls.h - calls through interfaces, and checks of what they return. Include cmocka.h first. */
#ifndef SXS_TEST_CLRIE_CALLS_H
#define SXS_TEST_CLRIE_CALLS_H

#include "base/base.h"
#include "clrie/object/strings.h"
#include "sxs_abi.h"

#define RELEASE(face)          ((face)->vtbl->Release(face))
#define CALL(face, ...)        CALL_(face, __VA_ARGS__)
#define CALL_(face, slot, ...) ((face)->vtbl->slot((face), ##__VA_ARGS__))
#define HR(expected, got)      assert_int_equal((uint32_t)(expected), (uint32_t)(got))

static inline void text_is(HRESULT hr, const BSTR *text, const WCHAR *expected)
{
    size_t n = clrie_string_length(expected);
    HR(S_OK, hr);
    assert_int_equal(clrie_string_length(*text), n);
    assert_memory_equal(*text, expected, n * sizeof(WCHAR));
    clrie_string_free(*text);
}

/* The present count of references of an object. */
static inline ULONG count(void *face)
{
    IUnknown *object = face;
    if (!object)
        return 0;
    object->vtbl->AddRef(object);
    return object->vtbl->Release(object);
}

/** A test with a fresh model as its state. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, runtime_begin, runtime_end)

#endif
