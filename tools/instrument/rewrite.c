/* SPDX-License-Identifier: MIT */
/* rewrite.c - makes the new IL of one method: reads its body, applies the rules, checks the result
 * and gives it to the runtime. */
#include "tools/instrument/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/weave/weave.h"
#include "rejit/methods/instrumented.h"
#include "session/write/instrument_write.h"

/* Gives the runtime the map of old to new IL offsets, so that debuggers and stack traces still find
 * the lines of the source. A runtime without a debugger refuses the map, which is no error. */
static void hand_over_map(const struct sxs_method *m, ICorProfilerFunctionControl *control)
{
    size_t             n = sxs_il_map(m->body, NULL, 0);
    struct sxs_il_map *map = calloc(n + 1, sizeof(*map));
    COR_IL_MAP        *cor = calloc(n + 1, sizeof(*cor));
    if (map && cor) {
        sxs_il_map(m->body, map, n);
        for (size_t i = 0; i < n; i++)
            cor[i] = (COR_IL_MAP){map[i].old_offset, map[i].new_offset, 1};
        control->vtbl->SetILInstrumentedCodeMap(control, (ULONG)n, cor);
    }
    free(map);
    free(cor);
}

/* Sets the body of a method that is not compiled yet. The runtime wants it in memory of its own
 * allocator, near its code. */
static HRESULT set_body(const struct sxs_method *m, const uint8_t *bytes, size_t size)
{
    sxs_module     module = m->tokens.module;
    IMethodMalloc *memory = NULL;
    uint8_t       *copy;
    HRESULT        hr = sxs_info_GetILFunctionBodyAllocator(module.rt, module, &memory);
    if (FAILED(hr))
        return hr;
    copy = memory->vtbl->Alloc(memory, (ULONG)size);
    memory->vtbl->Release(memory);
    if (!copy)
        return E_OUTOFMEMORY;
    memcpy(copy, bytes, size);
    return sxs_info_SetILFunctionBody(module.rt, module, m->token, copy);
}

static int hand_over(struct sxs_method *m, ICorProfilerFunctionControl *control, HRESULT *hr)
{
    const uint8_t *bytes;
    size_t         size;
    if (sxs_method_write(m, &bytes, &size))
        return -1;
    *hr = sxs_method_close(m); /* applies new tokens, which must precede the body */
    if (FAILED(*hr))
        return sxs_method_fail(m, "the runtime refused new metadata (0x%08x)", (unsigned)*hr);
    *hr = control ? control->vtbl->SetILFunctionBody(control, (ULONG)size, bytes)
                  : set_body(m, bytes, size);
    if (FAILED(*hr))
        return sxs_method_fail(m, "the runtime refused the new body (0x%08x)", (unsigned)*hr);
    if (control)
        hand_over_map(m, control);
    return 0;
}

/* Returns the error, after the place of the rule that it is due to, if there is one. */
static const char *reason(const struct sxs_method *m, char *text, size_t size)
{
    if (!m->file)
        return m->why;
    snprintf(text, size, "%s:%u:%u: %s", m->file, m->line, m->column, m->why);
    return text;
}

void sxs_rewrite(sxs_module module, mdToken token, ICorProfilerFunctionControl *control)
{
    struct sxs_instrumented_key  key = {module, token};
    struct sxs_instrumented_work work;
    struct sxs_method   *m;
    HRESULT              hr = S_OK;
    char                 text[1200];
    if (!sxs_instrumented_get_work(key, &work))
        return;
    m = work.plan ? calloc(1, sizeof(*m)) : NULL;
    if (m) {
        uint64_t since = sxs_instrument_begin(SXS_SPENT_WEAVE);
        int err = sxs_method_open(m, module, token) ||
                  sxs_weave(m, work.marker, work.rules, work.n_rules) || hand_over(m, control, &hr);
        sxs_method_close(m);
        sxs_instrument_took(SXS_SPENT_WEAVE, since);
        sxs_instrumented_set_woven(key, &work,
                                   err ? SXS_INSTRUMENTED_FAILED : SXS_INSTRUMENTED_ACTIVE, hr,
                                   err ? reason(m, text, sizeof(text)) : "");
        sxs_method_free(m);
        free(m);
    }
    sxs_instrumented_work_done(&work);
}
