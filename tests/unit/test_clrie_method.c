/* SPDX-License-Identifier: MIT */
/* Methods and compilations, called through their interfaces as a plug-in calls them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"

/* The method of @row: with its FunctionID, or (@by_token) without. */
static IMethodInfo2 *method_of(struct clrie_model *model, enum clrie_method_use use, unsigned row,
                               int by_token)
{
    struct clrie_method *method = NULL;
    assert_non_null(clrie_model_module_add(model, MODULE));
    HR(S_OK, clrie_method_new(model, use, by_token ? MODULE : 0, by_token ? METHOD(row) : 0,
                              by_token ? 0 : FUNCTION + row, &method));
    return (IMethodInfo2 *)(void *)clrie_method_face(method);
}

static struct clrie_method *object_of(IMethodInfo2 *face)
{
    static const struct clrie_class *const classes[] = {&clrie_method};
    return (struct clrie_method *)clrie_object_of(face, classes, 1);
}

/* ---- names ------------------------------------------------------------------------------------ */

static void names_are(struct clrie_model *model, unsigned row, int by_token, const WCHAR *name,
                      const WCHAR *full)
{
    IMethodInfo2 *method = method_of(model, CLRIE_METHOD_ALONE, row, by_token);
    BSTR          text;
    text_is(CALL(method, GetFullName, &text), &text, full);
    text_is(CALL(method, GetName, &text), &text, name);
    text_is(CALL(method, GetFullName, &text), &text, full);
    RELEASE(method);
}

static void names_have_the_form_that_clrie_gives_them(void **state)
{
    names_are(*state, MAIN, 0, u"Main", u"N.P.Main");
    names_are(*state, CCTOR, 1, u".cctor", u"N.P..cctor");
    names_are(*state, GETTER, 1, u"get_Prop", u"N.Value.get_Prop");
    names_are(*state, GEN, 1, u"Gen<!!0>", u"N.Outer`1+Inner.Gen<!!0>");
    /* By FunctionID, the runtime says how many type arguments there are. */
    names_are(*state, GEN, 0, u"Gen<!!0,!!1>", u"N.Outer`1+Inner.Gen<!!0,!!1>");
}

static void other_tokens_of_methods(void **state)
{
    struct clrie_module *module = clrie_model_module_add(*state, MODULE);
    IModuleInfo         *face = clrie_module_face(module);
    IMethodInfo         *method;
    BSTR                 text = (void *)1;
    BOOL                 b;
    DWORD                n = 0;
    HR(S_OK, CALL(face, GetMethodInfoByToken, 0x2b000001, &method)); /* a MethodSpec */
    text_is(CALL(method, GetName, &text), &text, u"Gen<!!0,!!1>");
    HR(S_OK, CALL(method, GetGenericParameterCount, &n));
    assert_int_equal(n, 2);
    RELEASE(method);
    HR(S_OK, CALL(face, GetMethodInfoByToken, 0x0a000001, &method)); /* a MemberRef */
    text_is(CALL(method, GetFullName, &text), &text, u"System.Object.Ref");
    RELEASE(method);
    /* Any token is accepted, and the questions fail. */
    HR(S_OK, CALL(face, GetMethodInfoByToken, METHOD(0x999), &method));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetName, &text));
    assert_null(text);
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetFullName, &text));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetIsStatic, &b));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetIsFinalizer, &b));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetAttributes, &n));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetCorSignature, 0, NULL, &n));
    RELEASE(method);
    HR(S_OK, CALL(face, GetMethodInfoByToken, 0x2b000099, &method));
    HR(CLDB_E_INDEX_NOTFOUND, CALL(method, GetName, &text));
    RELEASE(method);
}

struct kind {
    BOOL is_static, is_public, is_private, getter, setter, finalizer, constructor, cctor;
};

static void kind_is(struct clrie_model *model, unsigned row, struct kind expected)
{
    IMethodInfo2 *method = method_of(model, CLRIE_METHOD_ALONE, row, 1);
    struct kind   got;
    memset(&got, 9, sizeof(got));
    HR(S_OK, CALL(method, GetIsStatic, &got.is_static));
    HR(S_OK, CALL(method, GetIsPublic, &got.is_public));
    HR(S_OK, CALL(method, GetIsPrivate, &got.is_private));
    HR(S_OK, CALL(method, GetIsPropertyGetter, &got.getter));
    HR(S_OK, CALL(method, GetIsPropertySetter, &got.setter));
    HR(S_OK, CALL(method, GetIsFinalizer, &got.finalizer));
    HR(S_OK, CALL(method, GetIsConstructor, &got.constructor));
    HR(S_OK, CALL(method, GetIsStaticConstructor, &got.cctor));
    assert_memory_equal(&got, &expected, sizeof(got));
    RELEASE(method);
}

static void kinds_follow_from_bits_and_prefixes(void **state)
{
    /* An internal method (3) is public and private; a getter's prefix makes a setter. */
    kind_is(*state, MAIN, (struct kind){.is_static = 1, .is_public = 1, .is_private = 1});
    kind_is(*state, GEN, (struct kind){.is_public = 1});
    kind_is(*state, GETTER, (struct kind){.is_public = 1, .getter = 1, .setter = 1});
    kind_is(*state, SETTER, (struct kind){.is_private = 1});
    kind_is(*state, CTOR, (struct kind){.is_public = 1, .constructor = 1});
    kind_is(*state, CCTOR, (struct kind){.is_static = 1, .is_private = 1, .cctor = 1});
    kind_is(*state, FINALIZE, (struct kind){.is_public = 1, .finalizer = 1});
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static void ids_of_a_method(void **state)
{
    IMethodInfo2 *method = method_of(*state, CLRIE_METHOD_COMPILED, MAIN, 0);
    IModuleInfo  *module;
    FunctionID    function = 0;
    ClassID       class_id = 0;
    mdToken       token = 0;
    DWORD         n = 9;
    UINT          impl = 0;
    HR(S_OK, CALL(method, GetFunctionId, &function));
    assert_int_equal(function, FUNCTION + MAIN);
    HR(S_OK, CALL(method, GetClassId, &class_id));
    assert_int_equal(class_id, CLASS);
    HR(S_OK, CALL(method, GetMethodToken, &token));
    assert_int_equal(token, METHOD(MAIN));
    HR(S_OK, CALL(method, GetModuleInfo, &module));
    assert_ptr_equal(module, clrie_module_face(clrie_model_module(*state, MODULE)));
    RELEASE(module);
    HR(S_OK, CALL(method, GetAttributes, &n));
    assert_int_equal(n, mdStatic | mdAssem);
    HR(S_OK, CALL(method, GetCodeRva, &n));
    assert_int_equal(n, 0x2050);
    HR(S_OK, CALL(method, MethodImplFlags, &impl));
    assert_int_equal(impl, 8);
    HR(S_OK, CALL(method, GetRejitCodeGenFlags, &n));
    assert_int_equal(n, 0);
    HR(S_OK, CALL(method, SetRejitCodeGenFlags, 5));
    HR(S_OK, CALL(method, GetRejitCodeGenFlags, &n));
    assert_int_equal(n, 5);
    assert_int_equal(clrie_method_codegen_flags(object_of(method)), 5);
    HR(E_POINTER, CALL(method, GetName, NULL));
    HR(E_POINTER, CALL(method, GetMethodToken, NULL));
    HR(E_POINTER, CALL(method, GetIsStatic, NULL));
    RELEASE(method);
    method = method_of(*state, CLRIE_METHOD_COMPILED, GEN, 0); /* shared generic code: class 0 */
    HR(E_FAIL, CALL(method, GetClassId, &class_id));
    RELEASE(method);
}

static void a_rejitted_method_has_no_function_id_and_is_counted(void **state)
{
    struct clrie_method *object;
    IMethodInfo2        *method;
    FunctionID           function;
    ClassID              class_id;
    DWORD                n = 9;
    method = method_of(*state, CLRIE_METHOD_ALONE, MAIN, 1);
    HR(S_OK, CALL(method, GetRejitCount, &n));
    assert_int_equal(n, 0);
    for (int i = 0; i < 2; i++) {
        HR(S_OK, clrie_method_new(*state, CLRIE_METHOD_REJITTED, MODULE, METHOD(MAIN), 0, &object));
        HR(E_FAIL, CALL(clrie_method_face(object), GetFunctionId, &function));
        HR(E_FAIL, CALL(clrie_method_face(object), GetClassId, &class_id));
        RELEASE(clrie_method_face(object));
    }
    HR(S_OK, CALL(method, GetRejitCount, &n));
    assert_int_equal(n, 2);
    RELEASE(method);
    method = method_of(*state, CLRIE_METHOD_ALONE, GEN, 1);
    HR(S_OK, CALL(method, GetRejitCount, &n));
    assert_int_equal(n, 0);
    RELEASE(method);
}

static void a_method_of_an_unknown_module_is_refused(void **state)
{
    IAppDomainCollection *all = clrie_face((struct clrie_object *)clrie_model_domains(*state), 0);
    struct clrie_method  *method = (void *)1;
    IMethodInfo          *face = (void *)1, *second;
    clrie_model_module_add(*state, MODULE);
    HR(E_FAIL, clrie_method_new(*state, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION, &method));
    assert_null(method);
    HR(E_FAIL, clrie_method_new(*state, CLRIE_METHOD_REJITTED, 5, METHOD(MAIN), 0, &method));
    HR(E_INVALIDARG, CALL(all, GetMethodInfoById, 5, &face)); /* the runtime's answer */
    assert_null(face);
    HR(S_OK, CALL(all, GetMethodInfoById, FUNCTION + MAIN, &face));
    HR(S_OK, CALL(all, GetMethodInfoById, FUNCTION + MAIN, &second));
    assert_ptr_not_equal(face, second); /* a new object at each call */
    RELEASE(face);
    RELEASE(second);
}

static void a_method_answers_its_interfaces(void **state)
{
    IMethodInfo2   *method = method_of(*state, CLRIE_METHOD_ALONE, MAIN, 1);
    IUnknown       *out;
    IDataContainer *data;
    HR(S_OK, CALL(method, QueryInterface, &IID_IMethodInfo, (void **)&out));
    assert_ptr_equal(out, method);
    RELEASE(out);
    HR(S_OK, CALL(method, QueryInterface, &IID_IMethodInfo2, (void **)&out));
    assert_ptr_equal(out, method);
    RELEASE(out);
    HR(S_OK, CALL(method, QueryInterface, &IID_IDataContainer, (void **)&data));
    assert_ptr_not_equal(data, method);
    RELEASE(data);
    assert_int_equal(count(method), 1);
    RELEASE(method);
}

/* ---- types ------------------------------------------------------------------------------------ */

static void signature_and_types_of_a_method(void **state)
{
    IMethodInfo2          *method = method_of(*state, CLRIE_METHOD_ALONE, MAIN, 1);
    IEnumMethodParameters *list;
    IMethodParameter      *parameter = NULL;
    IType                 *type;
    CorElementType         element;
    BYTE                   sig[8];
    DWORD                  n = 0;
    ULONG                  fetched;
    HR(S_FALSE, CALL(method, GetCorSignature, 0, NULL, &n));
    assert_int_equal(n, 5);
    HR(E_FAIL, CALL(method, GetCorSignature, 4, sig, &n));
    HR(S_OK, CALL(method, GetCorSignature, 5, sig, &n));
    assert_memory_equal(sig, "\x00\x01\x01\x1d\x0e", 5);
    HR(E_POINTER, CALL(method, GetCorSignature, 5, sig, NULL));
    HR(S_OK, CALL(method, GetReturnType, &type));
    HR(S_OK, CALL(type, GetCorElementType, &element));
    assert_int_equal(element, ELEMENT_TYPE_VOID);
    RELEASE(type);
    HR(S_OK, CALL(method, GetParameters, &list));
    HR(S_OK, CALL(list, GetCount, &n));
    assert_int_equal(n, 1);
    HR(S_OK, CALL(list, Next, 1, &parameter, &fetched));
    HR(S_OK, CALL(parameter, GetType, &type));
    HR(S_OK, CALL(type, GetCorElementType, &element));
    assert_int_equal(element, ELEMENT_TYPE_SZARRAY);
    RELEASE(type);
    RELEASE(parameter);
    RELEASE(list);
    RELEASE(method);
    method = method_of(*state, CLRIE_METHOD_ALONE, ODD, 1); /* a type that is unknown */
    list = (void *)1;
    HR(E_NOTIMPL, CALL(method, GetParameters, &list));
    assert_null(list);
    HR(E_NOTIMPL, CALL(method, GetReturnType, &type));
    HR(E_NOTIMPL, CALL(method, GetCorSignature, 0, NULL, &n));
    RELEASE(method);
}

static void declaring_type_is(struct clrie_model *model, unsigned row, CorElementType expected,
                              mdToken expected_token)
{
    IMethodInfo2  *method = method_of(model, CLRIE_METHOD_ALONE, row, 1);
    IType         *type;
    ITokenType    *token_type;
    CorElementType element = 0;
    mdToken        token = 0;
    HR(S_OK, CALL(method, GetDeclaringType, &type));
    HR(S_OK, CALL(type, GetCorElementType, &element));
    assert_int_equal(element, expected);
    HR(S_OK, CALL(type, QueryInterface, &IID_ITokenType, (void **)&token_type));
    HR(S_OK, CALL(token_type, GetToken, &token));
    assert_int_equal(token, expected_token);
    RELEASE(token_type);
    RELEASE(type);
    RELEASE(method);
}

static void the_declaring_type_is_a_class_or_a_value_type(void **state)
{
    IMethodInfo2 *method = method_of(*state, CLRIE_METHOD_ALONE, 0x99, 1);
    IType        *type = (void *)1;
    declaring_type_is(*state, MAIN, ELEMENT_TYPE_CLASS, 0x02000002);
    declaring_type_is(*state, GETTER, ELEMENT_TYPE_VALUETYPE, 0x02000005);
    HR(S_OK, CALL(method, GetDeclaringType, &type)); /* unknown: CLRIE's answer */
    assert_null(type);
    RELEASE(method);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static mdToken locals_token(struct clrie_model *model, enum clrie_method_use use)
{
    struct clrie_method *method;
    mdToken              token = 0;
    HR(S_OK, clrie_method_new(model, use, MODULE, METHOD(MAIN),
                              use == CLRIE_METHOD_COMPILED ? FUNCTION + MAIN : 0, &method));
    HR(S_OK, CALL(clrie_method_face(method), GetLocalVarSigToken, &token));
    clrie_unref((struct clrie_object *)method);
    return token;
}

static void give_body(uint8_t *body, uint8_t locals)
{
    static const uint8_t fat[13] = {0x13, 0x30, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0x11, 0x2a};
    memcpy(body, fat, sizeof(fat));
    body[8] = locals;
    run.body = body;
    run.body_size = sizeof(fat);
}

static void the_body_of_the_first_compilation_stays_the_original(void **state)
{
    uint8_t              original[13], ours[13], others[13];
    struct clrie_method *method;
    clrie_model_module_add(*state, MODULE);
    give_body(others, 9);
    assert_int_equal(locals_token(*state, CLRIE_METHOD_ALONE), 0x11000009);
    give_body(original, 1); /* a question before does not fix the body */
    assert_int_equal(locals_token(*state, CLRIE_METHOD_COMPILED), 0x11000001);
    give_body(ours, 2); /* what the engine wrote, returned for the next generic instance */
    HR(S_OK, clrie_method_new(*state, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + MAIN, &method));
    clrie_method_set_written(method, ours);
    clrie_unref((struct clrie_object *)method);
    assert_int_equal(locals_token(*state, CLRIE_METHOD_COMPILED), 0x11000001);
    assert_int_equal(locals_token(*state, CLRIE_METHOD_ALONE), 0x11000001);
    assert_int_equal(locals_token(*state, CLRIE_METHOD_REJITTED), 0x11000001);
    give_body(others, 3); /* of another user of the same ReJIT */
    assert_int_equal(locals_token(*state, CLRIE_METHOD_REJITTED), 0x11000003);
    assert_int_equal(locals_token(*state, CLRIE_METHOD_COMPILED), 0x11000001);
}

static void a_token_of_locals_is_set_and_read(void **state)
{
    IMethodInfo2        *method = method_of(*state, CLRIE_METHOD_COMPILED, MAIN, 0);
    IMethodInfo2        *abstract;
    IInstructionGraph   *graph = (void *)1;
    IExceptionSection   *section = (void *)1;
    static const uint8_t cut[] = {0x13, 0x30, 1};
    static const uint8_t odd[] = {0x01, 0x2a};
    mdToken              token = 0;
    DWORD                n;
    HR(S_OK, CALL(method, SetLocalVarSigToken, 0x11000007));
    HR(S_OK, CALL(method, GetLocalVarSigToken, &token));
    assert_int_equal(token, 0x11000007);
    RELEASE(method);
    run.body = NULL;
    abstract = method_of(*state, CLRIE_METHOD_COMPILED, GEN, 0);
    HR(CORPROF_E_FUNCTION_NOT_IL, CALL(abstract, GetLocalVarSigToken, &token));
    HR(CORPROF_E_FUNCTION_NOT_IL, CALL(abstract, SetLocalVarSigToken, 1));
    HR(CORPROF_E_FUNCTION_NOT_IL, CALL(abstract, GetInstructions, &graph));
    assert_null(graph);
    HR(CORPROF_E_FUNCTION_NOT_IL, CALL(abstract, GetExceptionSection, &section));
    assert_null(section);
    HR(CORPROF_E_FUNCTION_NOT_IL, CALL(abstract, GetMaxStack, &n));
    RELEASE(abstract);
    run.body = cut;
    run.body_size = sizeof(cut);
    abstract = method_of(*state, CLRIE_METHOD_ALONE, GETTER, 1);
    HR(E_FAIL, CALL(abstract, GetLocalVarSigToken, &token));
    RELEASE(abstract);
    run.body = odd;
    run.body_size = sizeof(odd);
    abstract = method_of(*state, CLRIE_METHOD_ALONE, GETTER, 1);
    HR(E_FAIL, CALL(abstract, GetLocalVarSigToken, &token));
    RELEASE(abstract);
}

/* ---- compilations ----------------------------------------------------------------------------- */

static void a_compilation_that_has_ended(void **state)
{
    static const COR_IL_MAP       map[] = {{0, 0, 1}, {1, 2, 1}, {4, 9, 1}};
    COR_IL_MAP                    copy[3];
    struct clrie_method          *method;
    struct clrie_compiled_method *object;
    IMethodJitInfo2              *face;
    IModuleInfo                  *module;
    FunctionID                    function = 0;
    ReJITID                       rejit = 9;
    HRESULT                       result = 9;
    mdMethodDef                   token = 0;
    BOOL                          b = 9;
    ULONG32                       n = 9;
    UINT_PTR                      code = 0;
    clrie_model_module_add(*state, MODULE);
    HR(S_OK, clrie_method_new(*state, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + MAIN, &method));
    HR(S_OK, clrie_method_set_map(method, map, 3));
    clrie_method_set_transformed(method, 1);
    assert_int_equal(clrie_method_map(method, copy, 3), 3);
    clrie_unref((struct clrie_object *)method);

    object = clrie_compiled_method_new(*state, FUNCTION + MAIN, 0, 0, S_FALSE);
    face = (IMethodJitInfo2 *)(void *)clrie_compiled_method_face(object);
    HR(S_OK, CALL(face, GetFunctionID, &function));
    assert_int_equal(function, FUNCTION + MAIN);
    HR(S_OK, CALL(face, GetIsRejit, &b));
    assert_int_equal(b, 0);
    HR(S_OK, CALL(face, GetRejitId, &rejit)); /* S_OK, although it is no ReJIT */
    assert_int_equal(rejit, 0);
    HR(S_OK, CALL(face, GetJitHR, &result));
    HR(S_FALSE, result);
    HR(S_OK, CALL(face, GetILTransformationStatus, &b));
    assert_int_equal(b, 1);
    HR(S_OK, CALL(face, GetMethodToken, &token));
    assert_int_equal(token, METHOD(MAIN));
    HR(S_OK, CALL(face, GetModuleInfo, &module));
    RELEASE(module);
    HR(S_OK, CALL(face, GetILInstrumentationMap, 0, NULL, &n));
    assert_int_equal(n, 3);
    memset(copy, 0, sizeof(copy));
    HR(S_OK, CALL(face, GetILInstrumentationMap, 2, copy, &n));
    assert_int_equal(n, 3);
    assert_memory_equal(copy, map, 2 * sizeof(map[0]));
    assert_int_equal(copy[2].newOffset, 0);
    HR(S_OK, CALL(face, GetILInstrumentationMap, 9, copy, &n));
    assert_memory_equal(copy, map, sizeof(map));
    HR(S_OK, CALL(face, GetNativeCodeAddress, &code));
    assert_int_equal(code, 0x5002); /* the latest */
    HR(S_OK, CALL(face, GetILNativeMapping, 0, NULL, &n));
    assert_int_equal(n, 7);
    HR(E_POINTER, CALL(face, GetILNativeMapping, 0, NULL, NULL));
    HR(E_POINTER, CALL(face, GetModuleInfo, NULL));
    RELEASE(face);

    /* The map of a ReJIT is another one. */
    object = clrie_compiled_method_new(*state, FUNCTION + MAIN, 1, 4, S_OK);
    face = (IMethodJitInfo2 *)(void *)clrie_compiled_method_face(object);
    HR(S_OK, CALL(face, GetRejitId, &rejit));
    assert_int_equal(rejit, 4);
    HR(S_OK, CALL(face, GetILInstrumentationMap, 0, NULL, &n));
    assert_int_equal(n, 0);
    RELEASE(face);
}

static void a_compilation_of_an_unknown_module(void **state)
{
    struct clrie_compiled_method *object =
        clrie_compiled_method_new(*state, FUNCTION + MAIN, 0, 0, S_OK);
    IMethodJitInfo2 *face = (IMethodJitInfo2 *)(void *)clrie_compiled_method_face(object);
    IModuleInfo     *module = (void *)1;
    mdMethodDef      token;
    ULONG32          n = 9;
    BOOL             b;
    HR(E_FAIL, CALL(face, GetModuleInfo, &module));
    assert_null(module);
    HR(E_FAIL, CALL(face, GetMethodToken, &token));
    HR(E_FAIL, CALL(face, GetILTransformationStatus, &b));
    HR(E_FAIL, CALL(face, GetILInstrumentationMap, 0, NULL, &n));
    assert_int_equal(n, 0);
    clrie_model_module_add(*state, MODULE);
    HR(E_FAIL, CALL(face, GetModuleInfo, &module)); /* the answer is kept */
    assert_int_equal(run.info_calls, 1);
    RELEASE(face);
}

static void an_old_runtime_gives_no_code_address(void **state)
{
    struct clrie_model_host       old = {&info, 8, NULL};
    struct clrie_model           *model = clrie_model_new(&old);
    struct clrie_compiled_method *object =
        clrie_compiled_method_new(model, FUNCTION + MAIN, 0, 0, S_OK);
    IMethodJitInfo2 *face = (IMethodJitInfo2 *)(void *)clrie_compiled_method_face(object);
    UINT_PTR         code;
    ULONG32          n = 0;
    (void)state;
    HR(E_NOTIMPL, CALL(face, GetNativeCodeAddress, &code));
    HR(S_OK, CALL(face, GetILNativeMapping, 0, NULL, &n)); /* by the older function */
    assert_int_equal(n, 5);
    clrie_model_free(model);
    HR(E_FAIL, CALL(face, GetILNativeMapping, 0, NULL, &n));
    RELEASE(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_have_the_form_that_clrie_gives_them),
        TEST(other_tokens_of_methods),
        TEST(kinds_follow_from_bits_and_prefixes),
        TEST(ids_of_a_method),
        TEST(a_rejitted_method_has_no_function_id_and_is_counted),
        TEST(a_method_of_an_unknown_module_is_refused),
        TEST(a_method_answers_its_interfaces),
        TEST(signature_and_types_of_a_method),
        TEST(the_declaring_type_is_a_class_or_a_value_type),
        TEST(the_body_of_the_first_compilation_stays_the_original),
        TEST(a_token_of_locals_is_set_and_read),
        TEST(a_compilation_that_has_ended),
        TEST(a_compilation_of_an_unknown_module),
        TEST(an_old_runtime_gives_no_code_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
