/* SPDX-License-Identifier: MIT */
/*
 * baseline.c - a plug-in that gives the methods of the app rewritten whole new bodies, by
 * CreateBaseline: a method returns 9 for 0, else its argument; in a ReJIT 8 for 0. Then it inserts
 * instructions into the new body. When the app requests methods for ReJIT (command.h) it does so, too.
 *   BASELINE=NAME         this method alone
 *   BASELINE_MAPS=1       CreateBaseline gets a map of offsets and sequence points
 */
#include "tests/clrie/command.h"

const char     plug_name[] = "baseline";
const unsigned plug_has = PLUG_JIT;

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    const char *name = commanded_name(p, method), *only = getenv("BASELINE");
    (void)is_rejit;
    *wants = name && (!only || strcmp(only, name) == 0);
    return S_OK;
}

HRESULT plug_before(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    uint8_t            code[] = {0x00,             /* 0: nop */
                                 0x02,             /* 1: ldarg.0 */
                                 0x2d, 0x03,       /* 2: brtrue.s to 7 */
                                 0x1f, 9,    0x2a, /* 4: ldc.i4.s, 6: ret */
                                 0x02, 0x2a};      /* 7: ldarg.0; ret */
    COR_IL_MAP         map[] = {{0, 1, 1}, {1, 7, 1}};
    DWORD              points[] = {1, 4};
    int                maps = getenv("BASELINE_MAPS") != NULL;
    BOOL               is_set = 9;
    IInstructionGraph *graph = NULL;
    code[5] = is_rejit ? 8 : 9;
    if (!DO(p, method, GetInstructions, &graph))
        return E_FAIL;
    DO(p, graph, HasBaselineBeenSet, &is_set);
    plug_say(p, "%u: %s rejit=%d set before %d, CreateBaseline %#x", p->id,
             commanded_name(p, method), is_rejit, is_set,
             (unsigned)CALL(graph, CreateBaseline, code, code + sizeof(code), maps ? 2 : 0,
                            maps ? map : NULL, maps ? 2 : 0, maps ? points : NULL));
    memset(code, 0xff, sizeof(code)); /* the engine has read it */
    CALL(graph, Release);
    return S_OK;
}

static const char *opcode_at(struct plug *p, HRESULT hr, IInstruction *i)
{
    static _Thread_local char text[2][32];
    static _Thread_local int  turn;
    char                     *out = text[turn ^= 1];
    (void)p;
    snprintf(out, sizeof(text[0]), "%#x", (unsigned)hr);
    if (i) {
        snprintf(out, sizeof(text[0]), "opcode %#x", (unsigned)edit_opcode(i));
        CALL(i, Release);
    }
    return out;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct edit           e;
    BOOL                  is_set = 9;
    InstructionGeneration generation = 0;
    IInstruction         *original = NULL, *mapped = NULL;
    HRESULT               first, at;
    if (!edit_begin(&e, p, method))
        return E_FAIL;
    if (e.n < 2) {
        edit_end(&e);
        return E_FAIL;
    }
    DO(p, e.graph, HasBaselineBeenSet, &is_set);
    DO(p, e.at[0], GetInstructionGeneration, &generation);
    first = CALL(e.graph, GetUninstrumentedFirstInstruction, &original);
    at = CALL(e.graph, GetInstructionAtUninstrumentedOffset, 1, &mapped);
    plug_say(p, "%u: %s rejit=%d set %d generation %u of %u, was %s, at 1 %s", p->id,
             commanded_name(p, method), is_rejit, is_set, generation, e.n,
             opcode_at(p, first, original), opcode_at(p, at, mapped));
    edit_insert(&e, EDIT_BEFORE, e.at[1], edit_op(&e, Cee_Nop));
    edit_end(&e);
    return S_OK;
}

static void say_map(struct plug *p, IMethodJitInfo2 *compiled, const char *name)
{
    COR_IL_MAP map[16];
    char       text[256] = "";
    ULONG32    n = 0;
    CALL(compiled, GetILInstrumentationMap, 16, map, &n);
    for (ULONG32 i = 0; i < n && i < 16; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %u:%u", map[i].oldOffset,
                 map[i].newOffset);
    plug_say(p, "%u: map of %s:%s", p->id, name, text);
}

HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *compiled)
{
    IMethodInfo *method = NULL;
    FunctionID   function = 0;
    void        *face = NULL;
    if (FAILED(CALL(compiled, GetFunctionID, &function)))
        return S_OK;
    method = commanded_method(p, function);
    if (!method)
        return S_OK;
    if (commanded_name(p, method) &&
        SUCCEEDED(CALL(compiled, QueryInterface, &IID_IMethodJitInfo2, &face))) {
        say_map(p, face, commanded_name(p, method));
        CALL((IMethodJitInfo2 *)face, Release);
    }
    CALL(method, Release);
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    plug_say(p, "failed %u", plug_failed);
    commanded_end(p);
    return S_OK;
}
