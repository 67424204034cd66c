/* SPDX-License-Identifier: MIT */
/* test_complete_stack.c - the stack that an enter hook takes in the call that completes a recipe of shared code. The host's
 * threads may have little of it left. What a runtime takes to answer is not counted in: a simulated one answers here. */
#include "tests/unit/fake_host.h"

#include "calls/values.h"
#include "tests/unit/calls_fixture.h"
#include "tests/unit/manager_fixture.h"
#include "tests/unit/sanitized.h"
#include "values/recipe.h"
#include "values/show.h"

#define PAINTED  (128u << 10) /* bytes below the caller of a hook, which are its stack */
#define PAINT    0xa5
#define N_ARGS   64u /* type arguments that a call tells of: the most there may be */
#define N_PARAMS 4u
#define FAR      60000u

/* An enter hook that completes a recipe also shows the values, by the complete recipe. It takes so much more at most than
 * the next one, which only shows them; and so much of all. */
#define MORE_STACK 1024u
#define HOOK_STACK (2 * SXS_SHOW_STACK)

/* ---- a simulated runtime that also tells where arguments are ---------------------------------- */

static ICorProfilerInfo15    *simulated, mine;
static ICorProfilerInfo15Vtbl vtbl;
static ClassID                type_args[N_ARGS];
static uint64_t               zeros[8];

static HRESULT layout(ICorProfilerInfo15 *self, ULONG *length_at, ULONG *chars_at)
{
    (void)self;
    *length_at = 8;
    *chars_at = 12;
    return S_OK;
}

static HRESULT enter_info(ICorProfilerInfo15 *self, FunctionID fn, COR_PRF_ELT_INFO elt,
                          COR_PRF_FRAME_INFO *frame, ULONG *size,
                          COR_PRF_FUNCTION_ARGUMENT_INFO *out)
{
    (void)self, (void)fn, (void)elt, (void)size;
    *frame = 0x100; /* any but 0 */
    out->numRanges = N_PARAMS;
    for (unsigned i = 0; i < N_PARAMS; i++)
        out->ranges[i] = (COR_PRF_FUNCTION_ARGUMENT_RANGE){(UINT_PTR)zeros, sizeof(zeros)};
    return S_OK;
}

/* In a call, it tells what stands for type parameters. */
static HRESULT function_info(ICorProfilerInfo15 *self, FunctionID fn, COR_PRF_FRAME_INFO frame,
                             ClassID *cls, ModuleID *module, mdToken *token, ULONG32 room,
                             ULONG32 *n, ClassID *args)
{
    HRESULT hr =
        simulated->vtbl->GetFunctionInfo2(self, fn, frame, cls, module, token, room, n, args);
    if (FAILED(hr) || !frame)
        return hr;
    *n = N_ARGS;
    memcpy(args, type_args, sizeof(type_args));
    return S_OK;
}

static void tell_more(void)
{
    simulated = atomic_load(&kept[1]->info);
    vtbl = *simulated->vtbl;
    vtbl.GetStringLayout2 = layout;
    vtbl.GetFunctionEnter3Info = enter_info;
    vtbl.GetFunctionInfo2 = function_info;
    mine.vtbl = &vtbl;
    atomic_store(&kept[1]->info, &mine);
}

/* ---- functions of shared code ------------------------------------------------------------------ */

/* void M<A, B>(A, ref A, Pair<A, B>, Pair<Pair<A, B>, B>) */
static FunctionID new_function(ClassID type, const char *name, uint8_t pair)
{
    const uint8_t sig[] = {0x10, 2,    N_PARAMS, 0x01, 0x1e, 0,    0x10, 0x1e, 0,    0x15, 0x11,
                           pair, 2,    0x1e,     0,    0x1e, 1,    0x15, 0x11, pair, 2,    0x15,
                           0x11, pair, 2,        0x1e, 0,    0x1e, 1,    0x1e, 1};
    return nine.c->method_new(type, name, sig, sizeof(sig), 0, NULL);
}

static void define(void)
{
    ModuleID  module = nine.c->module_load("/app.dll");
    ClassID   type = nine.c->class_new(module, "App.Type", 0, 0, NULL), pair;
    mdTypeDef token = 0;
    char      name[32];
    pair = nine.c->class_new(module, "App.Pair`2", 0, 0, NULL);
    CHECK_EQ(simulated->vtbl->GetClassIDInfo2(simulated, pair, NULL, &token, NULL, 0, NULL, NULL),
             S_OK);
    CHECK(token > 0x02000000u && token < 0x02000020u); /* a byte in a signature */
    for (unsigned i = 0; i < N_ARGS; i++) {
        snprintf(name, sizeof(name), "App.Argument%u", i);
        type_args[i] = nine.c->class_new(module, i ? name : "System.__Canon", 0, 0, NULL);
    }
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "M%u", i);
        called[i].rt = kept[1];
        called[i].with_values = 1;
        called[i].id = new_function(type, name, (uint8_t)((token & 0xff) << 2));
    }
}

/* ---- the hook ---------------------------------------------------------------------------------- */

static size_t first_call, second_call;

/* As a runtime's helper leaves it: above the hook's frame, the stack pointer where it is looked for. */
struct saved {
    uintptr_t words[32];
    void     *info; /* a COR_PRF_ELT_INFO points here */
};

static void hook(void (*f)(struct sxs_called *, uintptr_t), unsigned fn)
{
    struct saved s = {.info = s.words};
    s.words[4] = s.words[29] = ((uintptr_t)&s + FAR) & ~(uintptr_t)7;
    f(&called[fn], (uintptr_t)&s.info);
}

/* Bytes below its own frame that an enter hook of function @fn takes. */
static __attribute__((noinline)) size_t stack_of_enter(unsigned fn)
{
    unsigned char *here = __builtin_frame_address(0), *at = here - PAINTED;
    memset(at, PAINT,
           PAINTED - 1024); /* what is left lies around the frames of this call and memset() */
    hook(sxs_values_enter, fn);
    while (at < here && *at == PAINT)
        at++;
    return (size_t)(here - at);
}

/* A thread that no runtime knows may ask for metadata. */
static const char *call_twice(void)
{
    struct sxs_recipe *r;
    for (unsigned i = 0; i < N_ARGS; i++)
        CHECK(sxs_types_add((sxs_class){kept[1], type_args[i]}));
    for (unsigned i = 0; i < 2; i++) {
        sxs_values_compiled(&called[i], (sxs_function){kept[1], called[i].id});
        r = atomic_load(&called[i].recipe);
        CHECK(r && r->by_frame && !r->refused);
    }
    hook(sxs_values_enter, 0); /* the thread's first call; functions of libc are found */
    hook(sxs_values_leave, 0);
    first_call = stack_of_enter(1);
    r = atomic_load(&called[1].recipe);
    CHECK_EQ(r->by_frame, 0);
    CHECK_EQ(r->params[0].shape.element, SXS_ELEMENT_OBJECT);
    hook(sxs_values_leave, 1);
    second_call = stack_of_enter(1);
    hook(sxs_values_leave, 1);
    return NULL;
}

static void stack_body(void)
{
    CHECK_EQ(make_file(NULL), 0);
    head->max_blocks = 400;
    prepare();
    nine = fake_start("9.0");
    tell_more();
    define();
    on_thread(call_twice);
    print_message("an enter hook takes %zu bytes of stack when it completes a recipe, %zu later\n",
                  first_call, second_call);
    fflush(stdout);
    CHECK(second_call > 1024); /* or the paint was not seen */
    CHECK(first_call < second_call + MORE_STACK);
    CHECK(first_call < HOOK_STACK);
    atomic_store(&kept[1]->info, simulated);
    sxs_types_close(kept[1]);
    fake_end(&nine);
    drop_file(NULL);
}

static void completing_a_recipe_takes_little_stack(void **state)
{
    (void)state;
    skip_if_sanitized("sanitizers make frames larger");
    PASSES(stack_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(completing_a_recipe_takes_little_stack, plain_environment),
    };
    return cmocka_run_group_tests_name("complete: stack", tests, NULL, NULL);
}
