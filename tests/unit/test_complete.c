/* SPDX-License-Identifier: MIT */
/* Recipes of shared code: completed by a call for which the runtime says the type arguments. */
#include <stdlib.h>

#include "manager/runtime_internal.h"
#include "values/complete.h"

/* cmocka wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define FRAME 0x100 /* any but 0 */
#define TRIES 1000  /* calls that are asked before what is not known is shown as not known */

static HRESULT function_hr, class_hr;

static HRESULT function_info(ICorProfilerInfo15 *self, FunctionID fn, COR_PRF_FRAME_INFO frame,
                             ClassID *cls, ModuleID *module, mdToken *token, ULONG32 room,
                             ULONG32 *n, ClassID *args)
{
    (void)self, (void)fn, (void)frame, (void)module, (void)token, (void)room, (void)args;
    if (cls)
        *cls = 0x20;
    *n = 0;
    return function_hr;
}

static HRESULT class_info(ICorProfilerInfo15 *self, ClassID cls, ModuleID *module, mdTypeDef *token,
                          ClassID *parent, ULONG32 room, ULONG32 *n, ClassID *args)
{
    (void)self, (void)cls, (void)module, (void)token, (void)parent, (void)room, (void)args;
    *n = 0;
    return class_hr;
}

static ICorProfilerInfo15Vtbl info_vtbl = {.GetFunctionInfo2 = function_info,
                                           .GetClassIDInfo2 = class_info};
static ICorProfilerInfo15     info = {&info_vtbl};
static struct sxs_runtime     runtime = {.number = 1, .info_slots = 200};

static struct sxs_recipe *call(struct sxs_recipe *r, HRESULT of_function, HRESULT of_class)
{
    function_hr = of_function;
    class_hr = of_class;
    return sxs_recipe_complete(r, (sxs_function){&runtime, 0x10}, FRAME);
}

static struct sxs_recipe *prepared(void)
{
    struct sxs_recipe *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    atomic_store(&runtime.phase, SXS_PHASE_LIVE);
    atomic_store(&runtime.info, &info);
    r->rt = &runtime;
    r->by_frame = 1;
    sxs_recipe_prepare(r);
    assert_non_null(r->draft);
    return r;
}

static void done(struct sxs_recipe *r)
{
    free(r->draft); /* in a process it stays: hooks may read it */
    free(r);
}

static void a_call_that_the_runtime_says_nothing_of_completes_nothing(void **state)
{
    struct sxs_recipe *r = prepared();
    (void)state;
    assert_null(call(r, E_FAIL, S_OK));
    assert_null(call(r, S_OK, CORPROF_E_DATAINCOMPLETE));
    assert_non_null(call(r, S_OK, S_OK));
    done(r);
}

static void what_is_never_said_is_not_asked_for_ever(void **state)
{
    struct sxs_recipe *r = prepared();
    (void)state;
    for (int i = 0; i < TRIES; i++)
        assert_null(call(r, E_FAIL, S_OK));
    assert_non_null(call(r, E_FAIL, S_OK));
    done(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_the_runtime_says_nothing_of_completes_nothing),
        cmocka_unit_test(what_is_never_said_is_not_asked_for_ever),
    };
    return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
