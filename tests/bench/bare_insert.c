/* SPDX-License-Identifier: MIT */
/* bare_insert.c - a profiler of one function: what a runtime itself spends on a method with new IL. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bare_hooks.h"

enum { FAT_SIZE = 12, TINY = 2, MAX_ROWS = 4 };

static int32_t             hits;
static ICorProfilerInfo15 *info;

/* ldc.i8 &hits; conv.i; dup; ldind.i4; ldc.i4.1; add; stind.i4: as tests/clrie/cost.c inserts it. */
static uint32_t put_counter(uint8_t *code)
{
    static const uint8_t rest[] = {0xd3, 0x25, 0x4a, 0x17, 0x58, 0x54};
    int64_t              address = (int64_t)(intptr_t)&hits;
    code[0] = 0x21;
    memcpy(code + 1, &address, 8);
    memcpy(code + 9, rest, sizeof(rest));
    return 9 + sizeof(rest);
}

/* The map has a row for each instruction of the methods of the app "bench": ldarg.0, ldc.i4 N, add, ret. */
static void set_map(FunctionID function, uint32_t inserted, uint32_t size)
{
    uint32_t    offsets[MAX_ROWS] = {0, 1, size - 2, size - 1};
    COR_IL_MAP *map = malloc(MAX_ROWS * sizeof(*map)); /* the runtime frees it */
    if (!map)
        return;
    for (unsigned i = 0; i < MAX_ROWS; i++)
        map[i] = (COR_IL_MAP){offsets[i], offsets[i] ? offsets[i] + inserted : 0, 1};
    info->vtbl->SetILInstrumentedCodeMap(info, function, 1, MAX_ROWS, map);
}

HRESULT bare_insert(IUnknown *self, FunctionID function, BOOL is_safe_to_block)
{
    ModuleID       module;
    mdToken        token;
    ClassID        class_id;
    const uint8_t *old;
    uint8_t       *body;
    ULONG          size;
    uint32_t       code, inserted;
    IMethodMalloc *memory = NULL;
    (void)self;
    (void)is_safe_to_block;
    if (FAILED(info->vtbl->GetFunctionInfo(info, function, &class_id, &module, &token)) ||
        FAILED(info->vtbl->GetILFunctionBody(info, module, token, &old, &size)) ||
        (old[0] & 3) != TINY || size < 5)
        return S_OK; /* not one of the small methods */
    if (FAILED(info->vtbl->GetILFunctionBodyAllocator(info, module, &memory)))
        return S_OK;
    body = memory->vtbl->Alloc(memory, size + 100);
    memory->vtbl->Release(memory);
    if (!body)
        return S_OK;
    memset(body, 0, FAT_SIZE);
    body[0] = 0x13; /* a fat header without clauses, InitLocals */
    body[1] = 0x30;
    body[2] = 8;
    inserted = put_counter(body + FAT_SIZE);
    memcpy(body + FAT_SIZE + inserted, old + 1, size - 1);
    code = inserted + size - 1;
    memcpy(body + 4, &code, sizeof(code));
    if (SUCCEEDED(info->vtbl->SetILFunctionBody(info, module, token, body)))
        set_map(function, inserted, size - 1);
    return S_OK;
}

void bare_insert_begin(ICorProfilerInfo15 *of)
{
    info = of;
}
