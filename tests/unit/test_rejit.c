/* SPDX-License-Identifier: MIT */
/* test_rejit.c - ReJIT requests of two tools for the same method, on a simulated runtime. Each tool
 * appends its letter to the body that it is shown. */
#include "manager/runtime_internal.h"
#include "rejit/rejit.h"
#include "tests/unit/fake_host.h"

/* ---- two tools -------------------------------------------------------------------------------- */

enum { A, B, N_TOOLS };

static struct sxs_sub *subs[N_TOOLS];
static atomic_uint     n_asked[N_TOOLS], n_errors[N_TOOLS];
static uint32_t        flags_of[N_TOOLS];
static int             sets_nothing[N_TOOLS], fails[N_TOOLS];

static unsigned number_of(const struct sxs_sub *sub)
{
    return sub == subs[B];
}

static HRESULT on_parameters(struct sxs_sub *sub, sxs_module module, mdMethodDef token,
                             ICorProfilerFunctionControl *control)
{
    unsigned who = number_of(sub);
    LPCBYTE  before = NULL;
    ULONG    size = 0;
    uint8_t  body[8];
    n_asked[who]++;
    if (fails[who] || sets_nothing[who])
        return fails[who] ? E_FAIL : S_OK;
    sxs_rejit_get_body(sub, module.id, token, &before, &size);
    CHECK(size < sizeof(body));
    if (size)
        memcpy(body, before, size);
    body[size] = (uint8_t)('A' + who);
    if (flags_of[who])
        CHECK_EQ(control->vtbl->SetCodegenFlags(control, flags_of[who]), S_OK);
    return control->vtbl->SetILFunctionBody(control, size + 1, body);
}

static HRESULT on_error(struct sxs_sub *sub, sxs_module module, mdMethodDef token, sxs_function fn,
                        HRESULT status)
{
    (void)fn;
    (void)status;
    n_errors[number_of(sub)] += (unsigned)sxs_rejit_take_error(sub, module, token);
    return S_OK;
}

static const struct sxs_events events = {.GetReJITParameters = on_parameters,
                                         .ReJITError = on_error};

static HRESULT start_tool(struct sxs_sub *sub, int which)
{
    subs[which] = sub;
    sub->low = (uint32_t)(COR_PRF_ENABLE_REJIT | COR_PRF_MONITOR_JIT_COMPILATION);
    return S_OK;
}

static HRESULT start_a(struct sxs_sub *sub, const char *options)
{
    (void)options;
    return start_tool(sub, A);
}

static HRESULT start_b(struct sxs_sub *sub, const char *options)
{
    (void)options;
    return start_tool(sub, B);
}

/* What B has changed in the first compilation; NULL: nothing. */
static const char *first_of_b;

static void first_body(struct sxs_sub *sub, sxs_module module, mdMethodDef token,
                       const uint8_t **bytes, uint32_t *size)
{
    (void)module;
    (void)token;
    CHECK(sub == subs[B]);
    if (first_of_b) {
        *bytes = (const uint8_t *)first_of_b;
        *size = (uint32_t)strlen(first_of_b);
    }
}

static const struct sxs_tool a = {.name = "a", .always = 1, .on = &events, .start = start_a};
static const struct sxs_tool b = {
    .name = "b", .always = 1, .on = &events, .start = start_b, .first_body = first_body};
static const struct sxs_tool *const tools[] = {&sxs_rejit_tool, &a, &b};

/* ---- what the runtime gets -------------------------------------------------------------------- */

static struct {
    uint8_t  body[8];
    uint32_t size, flags;
} got;

static HRESULT set_flags(ICorProfilerFunctionControl *self, DWORD flags)
{
    (void)self;
    got.flags = flags;
    return S_OK;
}

static HRESULT set_body(ICorProfilerFunctionControl *self, ULONG size, LPCBYTE bytes)
{
    (void)self;
    CHECK(size < sizeof(got.body));
    memcpy(got.body, bytes, size);
    got.body[size] = 0;
    got.size = size;
    return S_OK;
}

static struct fake_host clr;
static ModuleID         module;
static mdMethodDef      token;

/* Raises GetReJITParameters, as a runtime does when it compiles the method. */
static void compile(void)
{
    static const ICorProfilerFunctionControlVtbl table = {.SetCodegenFlags = set_flags,
                                                          .SetILFunctionBody = set_body};
    ICorProfilerFunctionControl                  control = {&table};
    const uint64_t args[] = {module, token, (uint64_t)(uintptr_t)&control};
    memset(&got, 0, sizeof(got));
    CHECK_EQ(clr.c->raise("GetReJITParameters", 1, 3, args), S_OK);
}

static void is_compiled_as(const char *body, uint32_t flags)
{
    compile();
    if (strcmp((const char *)got.body, body) != 0)
        dprintf(check_fd, "# body \"%s\", expected \"%s\"\n", (const char *)got.body, body);
    CHECK(strcmp((const char *)got.body, body) == 0);
    CHECK_EQ(got.flags, flags);
}

static HRESULT request(int who)
{
    static const struct sxs_rejit_how plainly = {0};
    return sxs_rejit_request(subs[who], &plainly, 1, &module, &token);
}

static HRESULT revert(int who)
{
    return sxs_rejit_revert(subs[who], 1, &module, &token, NULL);
}

static void begin(void)
{
    FunctionID          fn;
    ClassID             type, cls;
    ModuleID            of;
    mdToken             method;
    ICorProfilerInfo15 *info;
    first_of_b = NULL;
    for (int who = 0; who < N_TOOLS; who++) {
        n_asked[who] = n_errors[who] = flags_of[who] = 0;
        sets_nothing[who] = fails[who] = 0;
    }
    profile_without_signals(tools, ARRAY_LEN(tools));
    clr = fake_start("8.0");
    module = clr.c->module_load("/app/methods.dll");
    type = clr.c->class_new(module, "Methods", 0, 0, NULL);
    fn = clr.c->method_new(type, "Value", NULL, 0, 0, NULL);
    info = (ICorProfilerInfo15 *)clr.c->info();
    CHECK_EQ(info->vtbl->GetFunctionInfo(info, fn, &cls, &of, &method), S_OK);
    token = method;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void flags_body(void)
{
    begin();
    flags_of[A] = COR_PRF_CODEGEN_DISABLE_INLINING;
    flags_of[B] = COR_PRF_CODEGEN_DISABLE_ALL_OPTIMIZATIONS;
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("A", 1);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("AB", 3);
    CHECK_EQ(n_asked[A], 1); /* its flags are known */
    CHECK_EQ(revert(A), S_OK);
    is_compiled_as("B", 2);
    CHECK_EQ(revert(B), S_OK);
    is_compiled_as("", 0);
    fake_end(&clr);
}

static void flags_of_two_tools_are_united(void **state)
{
    (void)state;
    PASSES(flags_body);
}

/* A profiler that is alone keeps its IL when the runtime refuses to revert it. */
static void refused_revert_body(void)
{
    begin();
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("A", 0);
    CHECK_EQ(clr.c->fail_call("RequestRevert", E_FAIL, 1), S_OK);
    CHECK_EQ(revert(A), E_FAIL);
    is_compiled_as("A", 0);
    CHECK_EQ(n_asked[A], 1);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("AB", 0);
    CHECK_EQ(revert(A), S_OK); /* it can be reverted later */
    is_compiled_as("B", 0);
    fake_end(&clr);
}

static void a_tool_keeps_its_il_when_the_runtime_refuses_a_revert(void **state)
{
    (void)state;
    PASSES(refused_revert_body);
}

static void refused_again_body(void)
{
    begin();
    CHECK_EQ(request(A), S_OK);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("AB", 0);
    CHECK_EQ(clr.c->fail_call("RequestReJIT", E_OUTOFMEMORY, 1), S_OK);
    CHECK_EQ(revert(A), E_OUTOFMEMORY);
    is_compiled_as("AB", 0);
    CHECK_EQ(revert(A), S_OK);
    is_compiled_as("B", 0);
    fake_end(&clr);
}

static void likewise_when_the_others_il_cannot_be_requested_again(void **state)
{
    (void)state;
    PASSES(refused_again_body);
}

static void refused_method_body(void)
{
    HRESULT     status[2] = {0};
    ModuleID    modules[2];
    mdMethodDef tokens[2] = {0, 0x06000777}; /* the second method does not exist */
    begin();
    modules[0] = modules[1] = module;
    tokens[0] = token;
    CHECK_EQ(request(A), S_OK);
    CHECK_EQ(sxs_rejit_revert(subs[A], 2, modules, tokens, status), S_OK);
    CHECK_EQ(status[0], S_OK);
    CHECK_EQ(status[1], E_INVALIDARG);
    is_compiled_as("", 0);
    fake_end(&clr);
}

static void each_method_has_its_own_status(void **state)
{
    (void)state;
    PASSES(refused_method_body);
}

/* ---- a tool that begins with its first body ---------------------------------------------------- */

/* The simulated runtime's body reads as "", and B's first body as "x". */
static void first_body_body(void)
{
    begin();
    first_of_b = "x";
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("A", 0);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("xAB", 0);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("xAB", 0);
    CHECK_EQ(n_asked[A], 2); /* for each base once */
    CHECK_EQ(revert(A), S_OK);
    is_compiled_as("xB", 0);
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("xAB", 0);
    CHECK_EQ(revert(B), S_OK);
    is_compiled_as("A", 0);
    fake_end(&clr);
}

static void tools_begin_with_the_first_body_of_one_that_takes_part(void **state)
{
    (void)state;
    PASSES(first_body_body);
}

static void silent_body(void)
{
    begin();
    first_of_b = "x";
    sets_nothing[B] = 1;
    flags_of[B] = COR_PRF_CODEGEN_DISABLE_INLINING;
    CHECK_EQ(request(A), S_OK);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("A", 0);
    CHECK_EQ(n_asked[A], 3); /* at its request; for both bases at B's */
    CHECK_EQ(n_asked[B], 1);
    is_compiled_as("A", 0);
    CHECK_EQ(n_asked[A] + n_asked[B], 4); /* their answers are known */
    sets_nothing[B] = 0;
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("A", 0);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("xAB", 1);
    fake_end(&clr);
}

static void but_not_if_that_one_sets_no_body(void **state)
{
    (void)state;
    PASSES(silent_body);
}

static void failing_body(void)
{
    begin();
    first_of_b = "x";
    fails[B] = 1;
    CHECK_EQ(request(A), S_OK);
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("A", 0);
    CHECK_EQ(n_asked[B], 1);
    CHECK_EQ(n_errors[B], 1);
    fails[B] = 0;
    is_compiled_as("A", 0); /* its request has failed */
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("xAB", 0);
    fake_end(&clr);
}

static void nor_if_it_fails(void **state)
{
    (void)state;
    PASSES(failing_body);
}

static void left_body(void)
{
    begin();
    first_of_b = "x";
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("xB", 0);
    sxs_rejit_leave(subs[B]);
    first_of_b = "never asked";
    CHECK_EQ(request(A), S_OK);
    is_compiled_as("xB", 0); /* the body that it has left */
    CHECK_EQ(n_asked[B], 1);
    fake_end(&clr);
}

static void what_a_tool_has_set_stays_when_it_leaves(void **state)
{
    (void)state;
    PASSES(left_body);
}

/* ---- threads ---------------------------------------------------------------------------------- */

#define ROUNDS 300
static atomic_int running;

static void *work(void *arg)
{
    int who = *(const int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(request(who), S_OK);
        if (i + 1 < ROUNDS || who == A) /* in the end B wants the method, and A does not */
            CHECK_EQ(revert(who), S_OK);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *read_often(void *arg)
{
    (void)arg;
    while (atomic_load(&running)) {
        LPCBYTE body = NULL;
        ULONG   size = 0;
        for (int who = 0; who < N_TOOLS; who++)
            sxs_rejit_get_body(subs[who], module, token, &body, &size);
    }
    return NULL;
}

static void threads_body(void)
{
    static const int who[] = {A, B, A, B};
    pthread_t        threads[5];
    begin();
    atomic_store(&running, 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)&who[i]), 0);
    CHECK_EQ(pthread_create(&threads[4], NULL, read_often, NULL), 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(revert(A), S_OK); /* its two threads may have ended in any order */
    CHECK_EQ(request(B), S_OK);
    is_compiled_as("B", 0);
    CHECK_EQ(n_errors[A] + n_errors[B], 0);
    fake_end(&clr);
}

static void requests_and_reverts_on_several_threads(void **state)
{
    (void)state;
    PASSES(threads_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_of_two_tools_are_united),
        cmocka_unit_test(a_tool_keeps_its_il_when_the_runtime_refuses_a_revert),
        cmocka_unit_test(likewise_when_the_others_il_cannot_be_requested_again),
        cmocka_unit_test(each_method_has_its_own_status),
        cmocka_unit_test(tools_begin_with_the_first_body_of_one_that_takes_part),
        cmocka_unit_test(but_not_if_that_one_sets_no_body),
        cmocka_unit_test(nor_if_it_fails),
        cmocka_unit_test(what_a_tool_has_set_stays_when_it_leaves),
        cmocka_unit_test(requests_and_reverts_on_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
