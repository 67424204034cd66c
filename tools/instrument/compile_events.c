/* SPDX-License-Identifier: MIT */
/* compile_events.c - the tool's handlers of compilation events: they supply new IL, record whether
 * it compiled, and refuse inlining of instrumented methods. */
#include <stdio.h>

#include "rejit/methods/instrumented.h"
#include "rejit/methods/precompiled.h"
#include "rejit/rejit.h"
#include "tools/instrument/on_runtime.h"
#include "tools/instrument/rewrite.h"

HRESULT sxs_on_parameters(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                          ICorProfilerFunctionControl *control)
{
    (void)sub;
    sxs_rewrite(module, method, control);
    return S_OK;
}

/* Sets *key to the method of @fn. Returns 0 when that fails, or when no method is instrumented. */
static int find_key(sxs_function fn, struct sxs_instrumented_key *key)
{
    sxs_class cls;
    return sxs_instrumented_any() &&
           SUCCEEDED(sxs_info_GetFunctionInfo(fn.rt, fn, &cls, &key->module, &key->token));
}

static void compile_begins(struct sxs_sub *sub, sxs_function fn, int unasked)
{
    struct on_runtime *on = sub->state;
    if (on)
        sxs_compiles_begin(&on->compiles, fn.id, unasked);
}

static void compile_ends(struct sxs_sub *sub, sxs_function fn)
{
    struct on_runtime *on = sub->state;
    if (on)
        sxs_compiles_end(&on->compiles, fn.id);
}

/* JITCompilationStarted. A method that cannot be re-JITted gets its new IL here. */
HRESULT sxs_on_compiling(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    struct sxs_instrumented_key key;
    (void)safe;
    compile_begins(sub, fn, 0);
    if (find_key(fn, &key) && sxs_instrumented_is_wanted(key) &&
        sxs_instrumented_set_compiling(key))
        sxs_rewrite(key.module, key.token, NULL);
    return S_OK;
}

/* JITCachedFunctionSearchStarted: the runtime has found precompiled code of @fn. */
HRESULT sxs_on_searching(struct sxs_sub *sub, sxs_function fn, BOOL *use)
{
    if (sub->state && sxs_precompiled_is_left(fn))
        *use = 0;
    return S_OK;
}

HRESULT sxs_on_compiling_dynamic(struct sxs_sub *sub, sxs_function fn, BOOL safe, LPCBYTE il,
                                 ULONG size)
{
    (void)safe;
    (void)il;
    (void)size;
    compile_begins(sub, fn, 1);
    return S_OK;
}

HRESULT sxs_on_compiled_dynamic(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe)
{
    (void)status;
    (void)safe;
    compile_ends(sub, fn);
    return S_OK;
}

HRESULT sxs_on_recompiling(struct sxs_sub *sub, sxs_function fn, sxs_rejit version, BOOL safe)
{
    (void)version;
    (void)safe;
    compile_begins(sub, fn, 0);
    return S_OK;
}

static void record_refusal(struct sxs_instrumented_key key, HRESULT hr, const char *what)
{
    char text[128];
    snprintf(text, sizeof(text), "the runtime says %s (0x%08x)", what, (unsigned)hr);
    sxs_instrumented_set_state(key, SXS_INSTRUMENTED_FAILED, hr, text);
}

HRESULT sxs_on_recompiled(struct sxs_sub *sub, sxs_function fn, sxs_rejit version, HRESULT status,
                          BOOL safe)
{
    struct sxs_instrumented_key key;
    (void)version;
    (void)safe;
    compile_ends(sub, fn);
    if (!find_key(fn, &key))
        return S_OK;
    if (FAILED(status))
        record_refusal(key, status, "that its new IL does not compile");
    else
        sxs_instrumented_set_compiled(key, 0);
    return S_OK;
}

/* JITCompilationFinished: the first compilation of a method. It has compiled new IL only if the
 * method cannot be re-JITted. */
HRESULT sxs_on_compiled(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe)
{
    struct sxs_instrumented_key key;
    (void)safe;
    compile_ends(sub, fn);
    if (SUCCEEDED(status) && find_key(fn, &key))
        sxs_instrumented_set_compiled(key, 1);
    return S_OK;
}

HRESULT sxs_on_rejit_error(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                           sxs_function fn, HRESULT status)
{
    (void)fn;
    if (!sxs_rejit_take_error(sub, module, method))
        return S_OK;
    record_refusal((struct sxs_instrumented_key){module, method}, status,
                   "that it cannot be compiled again (ReJIT)");
    return S_OK;
}

/* JITInlining. An instrumented method must not be inlined, because the original IL would be
 * inlined. */
HRESULT sxs_on_inlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee, BOOL *should)
{
    struct on_runtime  *on = sub->state;
    struct sxs_instrumented_key key;
    (void)caller;
    if ((find_key(callee, &key) && sxs_instrumented_is_wanted(key)) ||
        (on && !sxs_compiles_may_inline(&on->compiles)))
        *should = 0;
    return S_OK;
}
