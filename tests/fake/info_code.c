/* SPDX-License-Identifier: MIT */
/* info_code.c - Info methods about functions, their machine code, and their recompilation. */
#include "tests/fake/fake.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))

HRESULT fake_GetFunctionFromIP(ICorProfilerInfo15 *self, LPCBYTE ip, FunctionID *out)
{
    (void)self;
    struct fake_function *function = fake_function_at(ID(ip));
    if (out)
        *out = ID(function);
    return function ? S_OK : E_FAIL;
}

HRESULT fake_GetFunctionFromIP2(ICorProfilerInfo15 *self, LPCBYTE ip, FunctionID *out,
                                ReJITID *rejit)
{
    if (rejit)
        *rejit = 0;
    return fake_GetFunctionFromIP(self, ip, out);
}

HRESULT fake_GetFunctionFromIP3(ICorProfilerInfo15 *self, LPCBYTE ip, FunctionID *out,
                                ReJITID *rejit)
{
    return fake_GetFunctionFromIP2(self, ip, out, rejit);
}

static HRESULT function_info(FunctionID id, ClassID *type, ModuleID *module, mdToken *token)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function)
        return E_INVALIDARG;
    if (function->dynamic && (type || token))
        return E_INVALIDARG;
    if (type)
        *type = ID(function->type);
    if (module)
        *module = ID(function->module);
    if (token)
        *token = 0x06000000u | function->row;
    return S_OK;
}

HRESULT fake_GetFunctionInfo(ICorProfilerInfo15 *self, FunctionID id, ClassID *type,
                             ModuleID *module, mdToken *token)
{
    (void)self;
    return function_info(id, type, module, token);
}

HRESULT fake_GetFunctionInfo2(ICorProfilerInfo15 *self, FunctionID id, COR_PRF_FRAME_INFO frame,
                              ClassID *type, ModuleID *module, mdToken *token, ULONG32 n_args,
                              ULONG32 *needed, ClassID *args)
{
    (void)self;
    (void)frame;
    HRESULT hr = function_info(id, type, module, token);
    if (FAILED(hr))
        return hr;
    const struct fake_function *function = (const struct fake_function *)(uintptr_t)id;
    if (needed)
        *needed = function->n_args;
    for (ULONG32 i = 0; args && i < n_args && i < function->n_args; i++)
        args[i] = function->args[i];
    return S_OK;
}

static HRESULT code_info(FunctionID id, ULONG32 n, ULONG32 *needed, COR_PRF_CODE_INFO *out)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function)
        return E_INVALIDARG;
    if (!atomic_load(&function->jitted))
        return CORPROF_E_FUNCTION_NOT_COMPILED;
    if (needed)
        *needed = 1;
    if (out && n) {
        out[0].startAddress = ID(fake_code_of(function));
        out[0].size = FAKE_CHUNK;
    }
    return S_OK;
}

HRESULT fake_GetCodeInfo(ICorProfilerInfo15 *self, FunctionID id, LPCBYTE *start, ULONG *size)
{
    (void)self;
    COR_PRF_CODE_INFO info = {0};
    HRESULT hr = code_info(id, 1, NULL, &info);
    if (start)
        *start = (LPCBYTE)info.startAddress;
    if (size)
        *size = (ULONG)info.size;
    return hr;
}

HRESULT fake_GetCodeInfo2(ICorProfilerInfo15 *self, FunctionID id, ULONG32 n, ULONG32 *needed,
                          COR_PRF_CODE_INFO *out)
{
    (void)self;
    return code_info(id, n, needed, out);
}

HRESULT fake_GetCodeInfo3(ICorProfilerInfo15 *self, FunctionID id, ReJITID rejit, ULONG32 n,
                          ULONG32 *needed, COR_PRF_CODE_INFO *out)
{
    (void)self;
    (void)rejit;
    return code_info(id, n, needed, out);
}

HRESULT fake_GetNativeCodeStartAddresses(ICorProfilerInfo15 *self, FunctionID id, ReJITID rejit,
                                         ULONG32 n, ULONG32 *needed, UINT_PTR *out)
{
    (void)self;
    (void)rejit;
    COR_PRF_CODE_INFO info = {0};
    HRESULT hr = code_info(id, 1, needed, &info);
    if (SUCCEEDED(hr) && out && n)
        out[0] = info.startAddress;
    return hr;
}

HRESULT fake_GetCodeInfo4(ICorProfilerInfo15 *self, UINT_PTR start, ULONG32 n, ULONG32 *needed,
                          COR_PRF_CODE_INFO *out)
{
    (void)self;
    struct fake_function *function = fake_function_at(start);
    return function ? code_info(ID(function), n, needed, out) : E_INVALIDARG;
}

HRESULT fake_GetFunctionFromToken(ICorProfilerInfo15 *self, ModuleID module_id, mdToken token,
                                  FunctionID *out)
{
    (void)self;
    struct fake_module *module = fake_find_module(module_id);
    struct fake_function *function = module ? fake_function_by_token(module, token) : NULL;
    if (!function || !out)
        return E_INVALIDARG;
    *out = ID(function);
    return S_OK;
}

HRESULT fake_IsFunctionDynamic(ICorProfilerInfo15 *self, FunctionID id, BOOL *out)
{
    (void)self;
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function || !out)
        return E_INVALIDARG;
    *out = function->dynamic;
    return S_OK;
}

HRESULT fake_GetDynamicFunctionInfo(ICorProfilerInfo15 *self, FunctionID id, ModuleID *module,
                                    PCCOR_SIGNATURE *sig, ULONG *sig_size, ULONG cch,
                                    ULONG *needed, WCHAR *name)
{
    (void)self;
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function || !function->dynamic)
        return E_INVALIDARG;
    if (module)
        *module = ID(function->module);
    if (sig)
        *sig = function->sig;
    if (sig_size)
        *sig_size = function->sig_size;
    fake_wide(function->name, name, cch, needed);
    return S_OK;
}

HRESULT fake_GetReJITIDs(ICorProfilerInfo15 *self, FunctionID id, ULONG n, ULONG *needed,
                         ReJITID *out)
{
    (void)self;
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function || !needed)
        return E_INVALIDARG;
    uint32_t count = atomic_load(&function->rejits);
    *needed = count;
    for (uint32_t i = 0; out && i < n && i < count; i++)
        out[i] = i + 1;
    return S_OK;
}

HRESULT fake_EnumJITedFunctions(ICorProfilerInfo15 *self, ICorProfilerFunctionEnum **out)
{
    (void)self;
    unsigned n = atomic_load(&fake.n_functions), found = 0;
    if (!out)
        return E_INVALIDARG;
    COR_PRF_FUNCTION *items = calloc(n + 1, sizeof(*items));
    if (!items)
        return E_OUTOFMEMORY;
    for (unsigned i = 1; i <= n && i < FAKE_MAX_ITEMS; i++) {
        struct fake_function *function = atomic_load(&fake.functions[i]);
        if (function && atomic_load(&function->jitted))
            items[found++].functionId = ID(function);
    }
    HRESULT hr = fake_enum_open(&IID_ICorProfilerFunctionEnum, items, sizeof(*items), found,
                                (void **)out);
    free(items);
    return hr;
}

HRESULT fake_EnumJITedFunctions2(ICorProfilerInfo15 *self, ICorProfilerFunctionEnum **out)
{
    return fake_EnumJITedFunctions(self, out);
}

static HRESULT request_rejit(ULONG n, const ModuleID *modules, const mdMethodDef *methods)
{
    if (!fake.callback[4])
        return CORPROF_E_CALLBACK4_REQUIRED;
    if (!(atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_ENABLE_REJIT))
        return CORPROF_E_REJIT_NOT_ENABLED;
    if (!n || !modules || !methods)
        return E_INVALIDARG;
    fake.modified_il = true;
    for (ULONG i = 0; i < n; i++) {
        struct fake_module *module = fake_find_module(modules[i]);
        HRESULT hr = module ? fake_rejit_request(module, methods[i]) : E_INVALIDARG;
        if (FAILED(hr)) /* as in a CLR: the request succeeds, the method is reported as an error */
            FAKE_RAISE(ReJITError, modules[i], methods[i], 0, (uint64_t)hr);
    }
    return S_OK;
}

HRESULT fake_RequestReJIT(ICorProfilerInfo15 *self, ULONG n, ModuleID *modules,
                          mdMethodDef *methods)
{
    (void)self;
    return request_rejit(n, modules, methods);
}

HRESULT fake_RequestReJITWithInliners(ICorProfilerInfo15 *self, DWORD flags, ULONG n,
                                      ModuleID *modules, mdMethodDef *methods)
{
    (void)self;
    (void)flags;
    return request_rejit(n, modules, methods);
}

HRESULT fake_RequestRevert(ICorProfilerInfo15 *self, ULONG n, ModuleID *modules,
                           mdMethodDef *methods, HRESULT *status)
{
    (void)self;
    if (!(atomic_load(&fake.mask_low) & (uint32_t)COR_PRF_ENABLE_REJIT))
        return CORPROF_E_REJIT_NOT_ENABLED;
    if (!n || !modules || !methods)
        return E_INVALIDARG;
    for (ULONG i = 0; i < n; i++) {
        struct fake_module *module = fake_find_module(modules[i]);
        struct fake_function *function = module ? fake_function_by_token(module, methods[i]) : NULL;
        if (status)
            status[i] = function ? S_OK : E_INVALIDARG;
        if (function)
            fake_rejit_revert(function);
    }
    return S_OK;
}
