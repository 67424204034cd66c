/* SPDX-License-Identifier: MIT */
/* A method with its graph: reading the body, changing it with locals, writing it. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"

/* The method of @row with the body @bytes. */
static struct clrie_method *begin(struct clrie_model *model, unsigned row, const uint8_t *bytes,
                                  ULONG size)
{
    struct clrie_method *method;
    run.body = bytes;
    run.body_size = size;
    clrie_model_module_add(model, MODULE);
    HR(S_OK, clrie_method_new(model, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + row, &method));
    return method;
}

static void a_method_is_rendered_with_its_locals(void **state)
{
    static const uint8_t      tiny[] = {1 << 2 | 2, 0x2a};
    struct clrie_method      *method = begin(*state, MAIN, tiny, sizeof(tiny));
    IMethodInfo              *face = clrie_method_face(method);
    IInstructionGraph        *graph, *again;
    IInstructionFactory      *factory;
    IInstruction             *first, *load, *pop;
    ILocalVariableCollection *locals;
    ITypeCreator             *creator;
    IModuleInfo              *module;
    IType                    *type;
    struct clrie_written      out;
    DWORD                     n = 9;
    uint32_t                  token;
    char                      why[160] = "?";
    assert_false(clrie_method_has_graph(method));
    HR(S_OK, CALL(face, GetInstructions, &graph));
    HR(S_OK, CALL(face, GetInstructions, &again));
    assert_ptr_equal(graph, again);
    assert_true(clrie_method_has_graph(method));
    RELEASE(again);
    HR(S_OK, CALL(face, GetLocalVariables, &locals));
    HR(S_OK, CALL(face, GetModuleInfo, &module));
    HR(S_OK, CALL(module, CreateTypeFactory, &creator));
    HR(S_OK, CALL(creator, FromCorElement, ELEMENT_TYPE_I4, &type));
    HR(S_OK, CALL(locals, AddLocal, type, &n));
    assert_int_equal(n, 0);
    HR(S_OK, CALL(face, GetInstructionFactory, &factory));
    HR(S_OK, CALL(factory, CreateLoadLocalInstruction, 0, &load));
    HR(S_OK, CALL(factory, CreateInstruction, Cee_Pop, &pop));
    HR(S_OK, CALL(graph, GetFirstInstruction, &first));
    HR(S_OK, CALL(graph, InsertBefore, first, load));
    HR(S_OK, CALL(graph, InsertBefore, first, pop));
    HR(S_OK, CALL(face, GetMaxStack, &n));
    assert_int_equal(n, 1);
    HR(S_OK, clrie_method_render(method, &out, why, sizeof(why)));
    assert_string_equal(why, "");
    assert_int_equal(out.bytes[0] & 3, 3);       /* fat */
    assert_int_equal(out.bytes[0] & 0x10, 0x10); /* InitLocals */
    memcpy(&token, out.bytes + 8, 4);
    assert_int_equal(token, 0x11000001);
    assert_memory_equal(run.sigs[0], "\x07\x01\x08", 3);
    assert_memory_equal(out.bytes + 12, "\x06\x26\x2a", 3);
    assert_int_equal(out.n_map, 1);
    assert_int_equal(out.map[0].newOffset, 0);
    RELEASE(load);
    RELEASE(pop);
    RELEASE(first);
    RELEASE(factory);
    RELEASE(type);
    RELEASE(creator);
    RELEASE(module);
    RELEASE(locals);
    RELEASE(face);
    HR(S_OK, CALL(graph, GetFirstInstruction, &first)); /* the graph holds the method */
    RELEASE(first);
    RELEASE(graph);
    HR(E_UNEXPECTED, CALL(graph, GetFirstInstruction, &first));
}

static void an_unchanged_body_is_rendered(void **state)
{
    static const uint8_t tiny[] = {1 << 2 | 2, 0x2a};
    struct clrie_method *method = begin(*state, MAIN, tiny, sizeof(tiny));
    struct clrie_written out;
    char                 why[160];
    HR(S_OK, clrie_method_render(method, &out, why, sizeof(why)));
    assert_int_equal(out.bytes[0] & 3, 3);
    assert_memory_equal(out.bytes + 12, "\x2a", 1);
    clrie_unref((struct clrie_object *)method);
}

static void a_wrong_body_is_named(void **state)
{
    /* Loads local 0, which does not exist. */
    static const uint8_t tiny[] = {3 << 2 | 2, 0x06, 0x26, 0x2a};
    struct clrie_method *method = begin(*state, MAIN, tiny, sizeof(tiny));
    struct clrie_written out;
    char                 why[160] = "";
    HR(E_FAIL, clrie_method_render(method, &out, why, sizeof(why)));
    assert_non_null(strstr(why, "local"));
    clrie_unref((struct clrie_object *)method);
}

static void a_method_without_il_is_named_so(void **state)
{
    struct clrie_method *method = begin(*state, MAIN, NULL, 0);
    struct clrie_written out;
    char                 why[160] = "";
    HR(CORPROF_E_FUNCTION_NOT_IL, clrie_method_render(method, &out, why, sizeof(why)));
    assert_string_equal(why, "there is no IL of it (0x80131354)");
    clrie_unref((struct clrie_object *)method);
}

static void the_checker_knows_calls_by_metadata(void **state)
{
    /* call get_Prop, which takes `this` and returns an int: too few values on the stack. */
    static const uint8_t wrong[] = {7 << 2 | 2, 0x28, GETTER, 0, 0, 6, 0x26, 0x2a};
    static const uint8_t right[] = {8 << 2 | 2, 0x02, 0x28, GETTER, 0, 0, 6, 0x26, 0x2a};
    struct clrie_method *method = begin(*state, CTOR, wrong, sizeof(wrong));
    struct clrie_written out;
    char                 why[160] = "";
    HR(E_FAIL, clrie_method_render(method, &out, why, sizeof(why)));
    assert_string_not_equal(why, "");
    clrie_unref((struct clrie_object *)method);
    method = begin(*state, FINALIZE, right, sizeof(right));
    HR(S_OK, clrie_method_render(method, &out, why, sizeof(why)));
    clrie_unref((struct clrie_object *)method);
}

static void a_single_return_adds_a_local_of_the_result_type(void **state)
{
    /* ldarg.0; brtrue.s to the second return; ldc.i4.0; ret; ldc.i4.1; ret */
    static const uint8_t              tiny[] = {7 << 2 | 2, 0x02, 0x2d, 2, 0x16, 0x2a, 0x17, 0x2a};
    struct clrie_method              *method = begin(*state, GETTER, tiny, sizeof(tiny));
    IMethodInfo                      *face = clrie_method_face(method);
    IInstructionGraph                *graph;
    IInstruction                     *exit;
    ISingleRetDefaultInstrumentation *single;
    struct clrie_written              out;
    char                              why[160] = "";
    HR(S_OK, CALL(face, GetInstructions, &graph));
    HR(S_OK, CALL(face, GetSingleRetDefaultInstrumentation, &single));
    RELEASE(face); /* the single return and the graph hold the method */
    HR(S_OK, CALL(single, Initialize, graph));
    HR(S_OK, CALL(single, ApplySingleRetDefaultInstrumentation));
    HR(S_OK, CALL((ISingleRetDefaultInstrumentation2 *)(void *)single, GetBranchTargetInstruction,
                  &exit));
    assert_non_null(exit);
    HR(S_OK, clrie_method_render(method, &out, why, sizeof(why)));
    assert_memory_equal(run.sigs[0], "\x07\x01\x08", 3);
    RELEASE(exit);
    RELEASE(graph);
    assert_int_equal(RELEASE(single), 0);
    HR(E_UNEXPECTED, CALL(graph, GetFirstInstruction, &exit)); /* all of it is gone */
}

/* Lets a plug-in insert a nop at the entry of a method, as in a compilation. */
static void change_a_method(struct clrie_model *model)
{
    static const uint8_t tiny[] = {3 << 2 | 2, 0x17, 0x26, 0x2a};
    struct clrie_method *method = begin(model, MAIN, tiny, sizeof(tiny));
    IMethodInfo         *face = clrie_method_face(method);
    IInstructionGraph   *graph;
    IInstructionFactory *factory;
    IInstruction        *first, *nop;
    struct clrie_written out;
    char                 why[160];
    HR(S_OK, CALL(face, GetInstructions, &graph));
    HR(S_OK, CALL(face, GetInstructionFactory, &factory));
    HR(S_OK, CALL(graph, GetFirstInstruction, &first));
    HR(S_OK, CALL(factory, CreateInstruction, Cee_Nop, &nop));
    HR(S_OK, CALL(graph, InsertBefore, first, nop));
    HR(S_OK, clrie_method_render(method, &out, why, sizeof(why)));
    assert_int_equal(out.size, 12 + 4);
    RELEASE(nop);
    RELEASE(first);
    RELEASE(factory);
    RELEASE(graph);
    RELEASE(face);
}

/* The memory of objects counts, too: it is taken from the C library in pieces. */
static void ten_thousand_methods_leave_nothing_behind(void **state)
{
    size_t before, after;
    for (unsigned i = 0; i < 100; i++)
        change_a_method(*state);
    before = mallinfo2().uordblks;
    for (unsigned i = 0; i < 10000; i++)
        change_a_method(*state);
    after = mallinfo2().uordblks;
    print_message("memory in use: %zu bytes before, %zu after\n", before, after);
    assert_true(after <= before + 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_method_is_rendered_with_its_locals),
        TEST(an_unchanged_body_is_rendered),
        TEST(a_wrong_body_is_named),
        TEST(a_method_without_il_is_named_so),
        TEST(the_checker_knows_calls_by_metadata),
        TEST(a_single_return_adds_a_local_of_the_result_type),
        TEST(ten_thousand_methods_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
