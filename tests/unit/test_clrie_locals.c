/* SPDX-License-Identifier: MIT */
/* Local variables of methods, as plug-ins use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"
#include "tests/unit/clrie_type_fixture.h"

/* A method whose body has the locals' signature with token 0x11000001: int, pinned object. */
static IMethodInfo2 *method_with_locals(struct clrie_model *model)
{
    static const uint8_t body[] = {0x13, 0x30, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0x11, 0x2a};
    static const uint8_t sig[] = {0x07, 2, 0x08, 0x45, 0x1c};
    struct clrie_method *method;
    run.body = body;
    run.body_size = sizeof(body);
    memcpy(run.sigs[0], sig, sizeof(sig));
    run.sig_sizes[0] = sizeof(sig);
    run.n_sigs = run.n_old_sigs = 1;
    clrie_model_module_add(model, MODULE);
    HR(S_OK, clrie_method_new(model, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + MAIN, &method));
    return (IMethodInfo2 *)(void *)clrie_method_face(method);
}

static void locals_are_added_and_committed(void **state)
{
    IMethodInfo2              *method = method_with_locals(*state);
    ITypeCreator              *creator = creator_of(*state);
    ILocalVariableCollection  *locals, *again, *original;
    ILocalVariableCollection2 *locals2;
    ISignatureBuilder         *b;
    IEnumMethodLocals         *list;
    IMethodLocal              *local = NULL;
    IType                     *type;
    CorElementType             element;
    DWORD                      n = 9;
    ULONG                      fetched;
    mdToken                    token = 0;
    HR(S_OK, CALL(method, GetLocalVariables, &locals));
    HR(S_OK, CALL(method, GetLocalVariables, &again));
    assert_ptr_equal(locals, again);
    RELEASE(again);
    HR(S_FALSE, CALL(locals, CommitSignature));
    HR(S_OK, CALL(locals, Initialize));
    HR(S_FALSE, CALL(locals, Initialize));
    HR(S_FALSE, CALL(locals, GetCount, &n)); /* what Initialize() returns */
    assert_int_equal(n, 2);
    HR(S_OK, CALL(creator, FromCorElement, ELEMENT_TYPE_STRING, &type));
    HR(S_OK, CALL(locals, AddLocal, type, &n));
    assert_int_equal(n, 2);
    HR(S_OK, CALL(locals, AddLocal, type, NULL));
    HR(E_POINTER, CALL(locals, AddLocal, NULL, &n));
    HR(E_INVALIDARG, CALL(locals, AddLocal, (IType *)(void *)creator, &n)); /* no type */
    RELEASE(type);
    HR(S_OK, CALL(locals, GetCorSignature, &b));
    builder_has(b, BYTES(0x07, 4, 0x08, 0x45, 0x1c, 0x0e, 0x0e));
    RELEASE(b);
    HR(S_OK, CALL(locals, QueryInterface, &IID_ILocalVariableCollection2, (void **)&locals2));
    HR(S_OK, CALL(locals2, GetEnum, &list));
    HR(S_OK, CALL(list, GetCount, &n));
    assert_int_equal(n, 2); /* without those that were added */
    HR(S_OK, CALL(list, Skip, 1));
    HR(S_OK, CALL(list, Next, 1, &local, &fetched));
    HR(S_OK, CALL(local, GetType, &type));
    HR(S_OK, CALL(type, GetCorElementType, &element));
    assert_int_equal(element, ELEMENT_TYPE_OBJECT);
    RELEASE(type);
    RELEASE(local);
    RELEASE(list);
    RELEASE(locals2);
    HR(E_FAIL, CALL(locals, ReplaceSignature, (const BYTE *)"\x07\x00", 2)); /* too late */
    HR(S_OK, CALL(locals, CommitSignature));
    HR(S_OK, CALL(method, GetLocalVarSigToken, &token));
    assert_int_equal(token, 0x11000002);
    assert_memory_equal(run.sigs[1], "\x07\x04\x08\x45\x1c\x0e\x0e", 7);
    HR(S_FALSE, CALL(locals, CommitSignature));
    HR(S_OK, CALL(locals, GetCount, &n)); /* read again, from a token that was added */
    assert_int_equal(n, 4);
    HR(S_OK, CALL(method, GetOriginalLocalVariables, &original));
    HR(S_OK, CALL(original, GetCount, &n));
    assert_int_equal(n, 4); /* as CLRIE: it reads the new token when it comes late */
    RELEASE(original);
    RELEASE(locals);
    RELEASE(creator);
    RELEASE(method);
}

static void the_original_locals_cannot_be_changed(void **state)
{
    IMethodInfo2             *method = method_with_locals(*state);
    ITypeCreator             *creator = creator_of(*state);
    ILocalVariableCollection *original;
    IType                    *type;
    DWORD                     n;
    HR(S_OK, CALL(creator, FromCorElement, ELEMENT_TYPE_I4, &type));
    HR(S_OK, CALL(method, GetOriginalLocalVariables, &original));
    HR(E_FAIL, CALL(original, ReplaceSignature, (const BYTE *)"\x07\x00", 2));
    HR(E_FAIL, CALL(original, AddLocal, type, &n));
    HR(S_FALSE, CALL(original, CommitSignature));
    HR(S_FALSE, CALL(original, GetCount, &n));
    assert_int_equal(n, 2);
    RELEASE(original);
    RELEASE(type);
    RELEASE(creator);
    RELEASE(method);
}

static void a_signature_is_replaced_before_the_first_use(void **state)
{
    IMethodInfo2             *method = method_with_locals(*state);
    ILocalVariableCollection *locals;
    DWORD                     n = 0;
    mdToken                   token = 0;
    HR(S_OK, CALL(method, GetLocalVariables, &locals));
    HR(E_POINTER, CALL(locals, ReplaceSignature, NULL, 2));
    HR(E_INVALIDARG, CALL(locals, ReplaceSignature, (const BYTE *)"\x07", 1));
    HR(E_INVALIDARG, CALL(locals, ReplaceSignature, (const BYTE *)"\x08\x00", 2));
    HR(S_OK, CALL(locals, ReplaceSignature, (const BYTE *)"\x07\x01\x0e", 3));
    HR(S_FALSE, CALL(locals, GetCount, &n));
    assert_int_equal(n, 1);
    HR(S_OK, CALL(locals, CommitSignature));
    HR(S_OK, CALL(method, GetLocalVarSigToken, &token));
    assert_int_equal(token, 0x11000002);
    assert_memory_equal(run.sigs[1], "\x07\x01\x0e", 3);
    RELEASE(locals);
    RELEASE(method);
}

static void a_method_without_locals_gets_some(void **state)
{
    struct clrie_method      *object;
    IMethodInfo              *method;
    ITypeCreator             *creator = creator_of(*state);
    ILocalVariableCollection *locals;
    IType                    *type;
    DWORD                     n = 9;
    mdToken                   token = 9;
    HR(S_OK, clrie_method_new(*state, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + MAIN, &object));
    method = clrie_method_face(object);
    HR(S_OK, CALL(method, GetLocalVarSigToken, &token));
    assert_int_equal(token, 0); /* a tiny header */
    HR(S_OK, CALL(method, GetLocalVariables, &locals));
    HR(S_FALSE, CALL(locals, Initialize)); /* an empty signature */
    HR(S_OK, CALL(creator, FromToken, ELEMENT_TYPE_CLASS, 0x01000001, &type));
    HR(S_OK, CALL(locals, AddLocal, type, &n));
    assert_int_equal(n, 0);
    RELEASE(type);
    HR(S_OK, CALL(locals, CommitSignature));
    assert_memory_equal(run.sigs[0], "\x07\x01\x12\x05", 4);
    RELEASE(method); /* the collection still holds the method */
    HR(S_OK, CALL(locals, GetCount, &n));
    RELEASE(locals);
    HR(E_UNEXPECTED, CALL(locals, GetCount, &n));
    HR(E_UNEXPECTED, CALL(method, GetMethodToken, &token));
    RELEASE(creator);
}

static void a_signature_that_cannot_be_read_fails_every_use(void **state)
{
    IMethodInfo2             *method = method_with_locals(*state);
    ITypeCreator             *creator = creator_of(*state);
    ILocalVariableCollection *locals;
    ISignatureBuilder        *b = (void *)1;
    IType                    *type;
    DWORD                     n;
    run.sigs[0][2] = 0x3f;
    HR(S_OK, CALL(creator, FromCorElement, ELEMENT_TYPE_I4, &type));
    HR(S_OK, CALL(method, GetLocalVariables, &locals));
    HR(E_NOTIMPL, CALL(locals, Initialize));
    HR(E_NOTIMPL, CALL(locals, GetCount, &n));
    HR(E_NOTIMPL, CALL(locals, AddLocal, type, &n));
    HR(E_NOTIMPL, CALL(locals, GetCorSignature, &b));
    assert_null(b);
    HR(S_FALSE, CALL(locals, CommitSignature));
    RELEASE(locals);
    RELEASE(type);
    RELEASE(creator);
    RELEASE(method);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(locals_are_added_and_committed),
        TEST(the_original_locals_cannot_be_changed),
        TEST(a_signature_is_replaced_before_the_first_use),
        TEST(a_method_without_locals_gets_some),
        TEST(a_signature_that_cannot_be_read_fails_every_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
