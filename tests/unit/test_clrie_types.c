/* SPDX-License-Identifier: MIT */
/* Types, signatures and the signature builder, as plug-ins use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"
#include "tests/unit/clrie_type_fixture.h"

static ISignatureParser *parser_of(ITypeCreator *creator)
{
    ISignatureParser *parser = NULL;
    HR(S_OK, CALL(creator, QueryInterface, &IID_ISignatureParser, (void **)&parser));
    return parser;
}

static ISignatureBuilder *builder(void)
{
    struct clrie_signature_builder *b = clrie_signature_builder_new();
    assert_non_null(b);
    return clrie_face((struct clrie_object *)b, 0);
}

/* Reads the type in a heap block of its very size, and returns it. */
static HRESULT read_type(ITypeCreator *creator, const uint8_t *bytes, DWORD size, IType **out,
                         DWORD *used)
{
    uint8_t *copy = malloc(size);
    HRESULT  hr;
    memcpy(copy, bytes, size);
    hr = CALL(creator, FromSignature, size, copy, out, used);
    free(copy);
    return hr;
}

/* The type of the bytes is written as @expected. */
static void written_as(ITypeCreator *creator, const uint8_t *bytes, DWORD size,
                       const uint8_t *expected, DWORD n)
{
    ISignatureBuilder *b = builder();
    IType             *type;
    DWORD              used = 0;
    HR(S_OK, read_type(creator, bytes, size, &type, &used));
    assert_int_equal(used, size);
    HR(S_OK, CALL(type, AddToSignature, b));
    builder_has(b, expected, n);
    RELEASE(type);
    RELEASE(b);
}

/* ---- types ------------------------------------------------------------------------------------ */

static void types_are_written_as_they_were_read(void **state)
{
    ITypeCreator *creator = creator_of(*state);
#define SAME(...) written_as(creator, BYTES(__VA_ARGS__), BYTES(__VA_ARGS__))
    SAME(0x08);
    SAME(0x16);                                                    /* TYPEDBYREF */
    SAME(0x0f, 0x0f, 0x01);                                        /* void** */
    SAME(0x10, 0x12, 0x08);                                        /* ref class */
    SAME(0x1d, 0x1d, 0x0e);                                        /* string[][] */
    SAME(0x14, 0x08, 2, 0, 0);                                     /* int[,] */
    SAME(0x14, 0x08, 2, 1, 3, 2, 0x01, 0x7f);                      /* int[1..3, -1..] */
    SAME(0x15, 0x12, 0x08, 2, 0x08, 0x15, 0x11, 0x09, 1, 0x13, 0); /* nested generic */
    SAME(0x13, 0x81, 0x00);
    SAME(0x1e, 3);
    SAME(0x1b, 0x00, 2, 0x01, 0x08, 0x0e); /* function pointer */
    SAME(0x1b, 0x10, 1, 1, 0x01, 0x1e, 0);
    SAME(0x1f, 0x08, 0x20, 0x09, 0x08); /* two modifiers */
    SAME(0x0f, 0x1f, 0x08, 0x08);       /* a modifier inside of a pointer */
    SAME(0x45, 0x1c);                   /* pinned object */
    SAME(0x41, 0x08);                   /* sentinel */
    SAME(0x11, 0xc0, 0x01, 0x00, 0x00);
    written_as(creator, BYTES(0x20, 0x08, 0x45, 0x08), BYTES(0x45, 0x20, 0x08, 0x08));
    written_as(creator, BYTES(0x1f, 0x08, 0x45, 0x20, 0x09, 0x0e),
               BYTES(0x45, 0x1f, 0x08, 0x20, 0x09, 0x0e));
    RELEASE(creator);
}

static void a_long_type_is_read(void **state)
{
    ITypeCreator      *creator = creator_of(*state);
    uint8_t            bytes[4 + 200] = {0x15, 0x12, 0x08, 0};
    ISignatureBuilder *b = builder();
    IType             *type;
    DWORD              used = 0, size;
    bytes[3] = 100;
    for (int i = 0; i < 100; i++) {
        bytes[4 + 2 * i] = 0x1d;
        bytes[5 + 2 * i] = 0x08;
    }
    HR(S_OK, read_type(creator, bytes, sizeof(bytes), &type, &used));
    assert_int_equal(used, sizeof(bytes));
    HR(S_OK, CALL(type, AddToSignature, b));
    HR(S_OK, CALL(b, GetSize, &size));
    assert_int_equal(size, sizeof(bytes));
    RELEASE(type);
    RELEASE(b);
    RELEASE(creator);
}

static void bytes_that_are_no_type_are_refused(void **state)
{
    ITypeCreator *creator = creator_of(*state);
    IType        *type = (void *)1;
    DWORD         used = 9;
    BYTE          i4 = 0x08;
#define REFUSED(hr, ...)                                              \
    do {                                                              \
        type = (void *)1;                                             \
        HR(hr, read_type(creator, BYTES(__VA_ARGS__), &type, &used)); \
        assert_null(type);                                            \
        assert_int_equal(used, 0);                                    \
    } while (0)
    REFUSED(E_NOTIMPL, 0x00);
    REFUSED(E_NOTIMPL, 0x3f);
    REFUSED(E_NOTIMPL, 0x1d, 0x3f);
    REFUSED(E_NOTIMPL, 0x21, 1, 2, 3, 4, 5, 6, 7, 8); /* private to a runtime */
    REFUSED(E_INVALIDARG, 0x1d);
    REFUSED(E_INVALIDARG, 0x12);
    REFUSED(E_INVALIDARG, 0x15, 0x12, 0x08, 2, 0x08);
    REFUSED(E_INVALIDARG, 0x1f, 0x08);
    REFUSED(E_INVALIDARG, 0x45);
    REFUSED(E_INVALIDARG, 0x41);
    HR(E_INVALIDARG, CALL(creator, FromSignature, 0, &i4, &type, &used));
    HR(E_POINTER, CALL(creator, FromSignature, 1, NULL, &type, &used));
    HR(E_POINTER, CALL(creator, FromSignature, 1, &i4, NULL, &used));
    HR(E_POINTER, CALL(creator, FromSignature, 1, &i4, &type, NULL));
    RELEASE(creator);
}

static void the_creator_knows_these_elements(void **state)
{
    ITypeCreator *creator = creator_of(*state);
    IType        *type;
    for (unsigned element = 0; element < 0x60; element++) {
        int known = (element >= 1 && element <= 0x0e) || element == 0x18 || element == 0x19 ||
                    element == 0x1c;
        CorElementType got = 0;
        type = (void *)1;
        HR(known ? S_OK : E_NOTIMPL, CALL(creator, FromCorElement, (CorElementType)element, &type));
        if (!known) {
            assert_null(type);
            continue;
        }
        HR(S_OK, CALL(type, GetCorElementType, &got));
        assert_int_equal(got, element);
        RELEASE(type);
    }
    HR(E_POINTER, CALL(creator, FromCorElement, ELEMENT_TYPE_I4, NULL));
    HR(E_INVALIDARG, CALL(creator, FromToken, ELEMENT_TYPE_I4, 0x02000002, &type));
    HR(E_POINTER, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x02000002, NULL));
    RELEASE(creator);
}

static void has_name(ITypeCreator *creator, const uint8_t *bytes, DWORD size, const WCHAR *name)
{
    IType *type;
    DWORD  used;
    BSTR   text;
    HR(S_OK, read_type(creator, bytes, size, &type, &used));
    text_is(CALL(type, GetName, &text), &text, name);
    RELEASE(type);
}

static void names_of_types(void **state)
{
    ITypeCreator *creator = creator_of(*state);
    IType        *type;
    BSTR          text;
    uint32_t      length;
    has_name(creator, BYTES(0x08), u"I4");
    has_name(creator, BYTES(0x0e), u"STRING");
    has_name(creator, BYTES(0x1d, 0x08), u"SZARRAY");
    has_name(creator, BYTES(0x15, 0x12, 0x0c, 1, 0x08), u"GENERICINST");
    has_name(creator, BYTES(0x13, 0), u"VAR");
    has_name(creator, BYTES(0x45, 0x10, 0x08), u"BYREF");
    has_name(creator, BYTES(0x12, 0x08), u"N.P");
    has_name(creator, BYTES(0x12, 0x10), u"N.Outer`1+Inner");
    HR(S_OK, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x01000001, &type));
    HR(S_OK, CALL(type, GetName, &text));
    memcpy(&length, (char *)text - 4, 4);
    assert_int_equal(length, 28); /* "System.Object" and the zero */
    clrie_string_free(text);
    RELEASE(type);
    HR(S_OK, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x1b000001, &type));
    HR(E_FAIL, CALL(type, GetName, &text));
    assert_null(text);
    HR(E_POINTER, CALL(type, GetName, NULL));
    RELEASE(type);
    HR(S_OK, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x02000999, &type));
    assert_true(FAILED(CALL(type, GetName, &text)));
    RELEASE(type);
    RELEASE(creator);
}

static void kinds_of_types_have_their_interfaces(void **state)
{
    ITypeCreator          *creator = creator_of(*state);
    IType                 *type, *related;
    ITokenType            *token_type;
    ICompositeType        *composite;
    IGenericParameterType *parameter;
    IModuleInfo           *module;
    CorElementType         element;
    DWORD                  used;
    mdToken                token = 0;
    ULONG                  position = 0;
    BOOL                   b = 9;
    HR(S_OK, read_type(creator, BYTES(0x11, 0x14), &type, &used));
    HR(S_OK, CALL(type, QueryInterface, &IID_ITokenType, (void **)&token_type));
    HR(S_OK, CALL(token_type, GetToken, &token));
    assert_int_equal(token, 0x02000005);
    HR(S_OK, CALL(token_type, GetOwningModule, &module));
    assert_ptr_equal(module, clrie_module_face(clrie_model_module(*state, MODULE)));
    RELEASE(module);
    HR(E_NOINTERFACE, CALL(type, QueryInterface, &IID_ICompositeType, (void **)&composite));
    HR(S_OK, CALL(type, IsClass, &b));
    assert_int_equal(b, 0);
    HR(E_POINTER, CALL(token_type, GetToken, NULL));
    RELEASE(token_type);
    RELEASE(type);

    HR(S_OK, read_type(creator, BYTES(0x45, 0x15, 0x12, 0x0c, 1, 0x08), &type, &used));
    HR(S_OK, CALL(type, QueryInterface, &IID_ICompositeType, (void **)&composite));
    HR(S_OK, CALL(composite, GetRelatedType, &related));
    HR(S_OK, CALL(related, GetCorElementType, &element));
    assert_int_equal(element, ELEMENT_TYPE_CLASS);
    RELEASE(related);
    HR(S_OK, CALL(composite, GetRelatedType, &related)); /* the same again */
    RELEASE(composite);
    RELEASE(type);
    HR(S_OK, CALL(related, GetCorElementType, &element)); /* it outlives the composite type */
    RELEASE(related);

    HR(S_OK, read_type(creator, BYTES(0x1f, 0x08, 0x1d, 0x0e), &type, &used));
    HR(S_OK, CALL(type, IsArray, &b));
    assert_int_equal(b, 1);
    HR(S_OK, CALL(type, IsPrimitive, &b));
    assert_int_equal(b, 0);
    HR(S_OK, CALL(type, QueryInterface, &IID_ICompositeType, (void **)&composite));
    HR(S_OK, CALL(composite, GetRelatedType, &related));
    HR(S_OK, CALL(related, IsPrimitive, &b));
    assert_int_equal(b, 1); /* STRING counts as primitive */
    RELEASE(related);
    RELEASE(composite);
    RELEASE(type);

    HR(S_OK, read_type(creator, BYTES(0x1e, 5), &type, &used));
    HR(S_OK, CALL(type, QueryInterface, &IID_IGenericParameterType, (void **)&parameter));
    HR(S_OK, CALL(parameter, GetPosition, &position));
    assert_int_equal(position, 5);
    RELEASE(parameter);
    RELEASE(type);
    RELEASE(creator);
}

static void a_type_outlives_its_module(void **state)
{
    ITypeCreator *creator = creator_of(*state);
    IType        *type;
    BSTR          text;
    HR(S_OK, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x02000002, &type));
    RELEASE(creator);
    clrie_unref((struct clrie_object *)clrie_model_module_remove(*state, MODULE));
    HR(E_FAIL, CALL(type, GetName, &text));
    RELEASE(type);
    HR(E_UNEXPECTED, CALL(type, GetName, &text)); /* released */
}

/* ---- the builder ------------------------------------------------------------------------------ */

static void the_builder_compresses(void **state)
{
    ISignatureBuilder *b = builder(), *other = builder();
    const BYTE        *at = (void *)1;
    DWORD              n = 9;
    BYTE               byte;
    (void)state;
    HR(S_FALSE, CALL(b, GetCorSignaturePtr, &at));
    assert_null(at);
    HR(S_OK, CALL(b, GetCorSignature, 0, NULL, &n));
    assert_int_equal(n, 0);
    HR(S_OK, CALL(b, Add, 3));
    HR(S_OK, CALL(b, Add, 0x4000));
    HR(S_OK, CALL(b, AddSignedInt, -1));
    HR(S_OK, CALL(b, AddToken, 0x01000002));
    HR(S_OK, CALL(b, AddElementType, ELEMENT_TYPE_STRING));
    HR(S_OK, CALL(b, AddData, (const BYTE *)"\x01\x02", 2));
    HR(S_OK, CALL(b, AddData, NULL, 0));
    builder_has(b, BYTES(3, 0xc0, 0, 0x40, 0, 0x7f, 0x09, 0x0e, 1, 2));
    HR(S_OK, CALL(other, Add, 8));
    HR(S_OK, CALL(other, AddSignature, b));
    HR(S_OK, CALL(other, AddSignature, other)); /* itself */
    HR(S_OK, CALL(other, GetSize, &n));
    assert_int_equal(n, 22);
    HR(E_INVALIDARG, CALL(other, GetCorSignature, 1, &byte, &n));
    HR(S_OK, CALL(other, GetCorSignature, 0, NULL, NULL));
    /* What has no compressed form: CLRIE writes outside of its buffer. */
    HR(E_INVALIDARG, CALL(b, Add, 0x20000000));
    HR(E_INVALIDARG, CALL(b, AddSignedInt, 0x10000000));
    HR(E_INVALIDARG, CALL(b, AddSignedInt, -0x10000001));
    HR(S_OK, CALL(b, AddSignedInt, -0x10000000));
    HR(E_POINTER, CALL(b, AddSignature, NULL));
    HR(E_POINTER, CALL(b, AddData, NULL, 1));
    HR(E_POINTER, CALL(b, GetSize, NULL));
    HR(E_POINTER, CALL(b, GetCorSignaturePtr, NULL));
    HR(S_OK, CALL(b, Clear));
    HR(S_OK, CALL(b, GetSize, &n));
    assert_int_equal(n, 0);
    RELEASE(other);
    HR(E_UNEXPECTED, CALL(b, AddSignature, other)); /* released */
    RELEASE(b);
}

/* ---- the parser ------------------------------------------------------------------------------- */

static void a_method_signature_is_parsed(void **state)
{
    ITypeCreator      *creator = creator_of(*state);
    ISignatureParser  *parser = parser_of(creator);
    static const BYTE  sig[] = {0x30, 1, 2, 0x1e, 0, 0x13, 0, 0x1d, 0x08, 0xff};
    static const BYTE  vararg[] = {0x05, 2, 0x01, 0x08, 0x41, 0x0e};
    IType             *result, *parameter = NULL;
    IEnumTypes        *list;
    ISignatureBuilder *b = builder();
    CorElementType     element;
    ULONG              convention = 0, generics = 0, used = 0, fetched;
    DWORD              n = 0;
    HR(S_OK, CALL(parser, ParseMethodSignature, sig, sizeof(sig), &convention, &result, &list,
                  &generics, &used));
    assert_int_equal(convention, 0x30);
    assert_int_equal(generics, 1);
    assert_int_equal(used, 9);
    HR(S_OK, CALL(result, GetCorElementType, &element));
    assert_int_equal(element, ELEMENT_TYPE_MVAR);
    HR(S_OK, CALL(list, GetCount, &n));
    assert_int_equal(n, 2);
    RELEASE(list);
    RELEASE(result);
    HR(S_OK, CALL(parser, ParseMethodSignature, sig, sizeof(sig), NULL, NULL, NULL, NULL, NULL));
    HR(S_OK,
       CALL(parser, ParseMethodSignature, vararg, sizeof(vararg), NULL, NULL, &list, NULL, NULL));
    HR(S_OK, CALL(list, Skip, 1));
    HR(S_OK, CALL(list, Next, 1, &parameter, &fetched));
    HR(S_OK, CALL(parameter, AddToSignature, b)); /* the sentinel belongs to the type after it */
    builder_has(b, BYTES(0x41, 0x0e));
    RELEASE(parameter);
    RELEASE(list);
    RELEASE(b);
    for (ULONG size = 0; size < 9; size++) { /* cut off: a failure, and nothing is left behind */
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, sig, size);
        result = (void *)1;
        list = (void *)1;
        assert_true(FAILED(CALL(parser, ParseMethodSignature, copy, size, &convention, &result,
                                &list, &generics, &used)));
        assert_null(result);
        assert_null(list);
        assert_int_equal(used, 0);
        free(copy);
    }
    HR(E_UNEXPECTED, CALL(parser, ParseMethodSignature, (const BYTE *)"\x06\x08", 2, NULL, NULL,
                          NULL, NULL, NULL));
    HR(E_UNEXPECTED, CALL(parser, ParseMethodSignature, (const BYTE *)"\x07\x01\x08", 3, NULL, NULL,
                          NULL, NULL, NULL));
    HR(E_POINTER, CALL(parser, ParseMethodSignature, NULL, 2, NULL, NULL, NULL, NULL, NULL));
    RELEASE(parser);
    RELEASE(creator);
}

static void signatures_of_locals_and_sequences_are_parsed(void **state)
{
    ITypeCreator     *creator = creator_of(*state);
    ISignatureParser *parser = parser_of(creator);
    static const BYTE sig[] = {0x07, 2, 0x45, 0x1c, 0x08};
    IEnumTypes       *list;
    ULONG             convention = 0, used = 0;
    DWORD             n = 0;
    HR(S_OK, CALL(parser, ParseLocalVarSignature, sig, sizeof(sig), &convention, &list, &used));
    assert_int_equal(convention, 7);
    assert_int_equal(used, 5);
    HR(S_OK, CALL(list, GetCount, &n));
    assert_int_equal(n, 2);
    RELEASE(list);
    HR(S_OK, CALL(parser, ParseLocalVarSignature, sig, sizeof(sig), NULL, NULL, NULL));
    HR(E_UNEXPECTED, CALL(parser, ParseLocalVarSignature, sig + 1, 4, NULL, &list, NULL));
    assert_null(list);
    HR(E_INVALIDARG, CALL(parser, ParseLocalVarSignature, sig, 4, NULL, &list, NULL));
    HR(E_POINTER, CALL(parser, ParseLocalVarSignature, NULL, 4, NULL, &list, NULL));
    HR(S_OK, CALL(parser, ParseTypeSequence, sig + 2, 3, 2, &list, &used));
    assert_int_equal(used, 3);
    RELEASE(list);
    HR(S_OK, CALL(parser, ParseTypeSequence, sig + 2, 3, 0, &list, &used));
    assert_int_equal(used, 0);
    RELEASE(list);
    HR(E_INVALIDARG, CALL(parser, ParseTypeSequence, sig + 2, 3, 0xffffffff, &list, &used));
    assert_null(list);
    HR(S_OK, CALL(parser, ParseTypeSequence, sig + 2, 3, 2, NULL, NULL));
    HR(E_POINTER, CALL(parser, ParseTypeSequence, NULL, 3, 2, NULL, NULL));
    RELEASE(parser);
    RELEASE(creator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(types_are_written_as_they_were_read),
        TEST(a_long_type_is_read),
        TEST(bytes_that_are_no_type_are_refused),
        TEST(the_creator_knows_these_elements),
        TEST(names_of_types),
        TEST(kinds_of_types_have_their_interfaces),
        TEST(a_type_outlives_its_module),
        TEST(the_builder_compresses),
        TEST(a_method_signature_is_parsed),
        TEST(signatures_of_locals_and_sequences_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
