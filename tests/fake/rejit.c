/* SPDX-License-Identifier: MIT */
/* rejit.c - recompiles a method: asks the profiler for new IL, and raises the ReJIT callbacks. */
#include "tests/fake/fake.h"

struct control {
    ICorProfilerFunctionControl com;
    _Atomic unsigned refs;
    uint8_t *il; /* copy of the IL from the profiler, never freed; NULL: none was set */
};

static HRESULT control_query(ICorProfilerFunctionControl *self, REFIID riid, void **out)
{
    bool known = memcmp(riid, &IID_IUnknown, sizeof(*riid)) == 0 ||
                 memcmp(riid, &IID_ICorProfilerFunctionControl, sizeof(*riid)) == 0;
    *out = known ? self : NULL;
    if (known)
        self->vtbl->AddRef(self);
    return known ? S_OK : E_NOINTERFACE;
}

static ULONG control_add_ref(ICorProfilerFunctionControl *self)
{
    return atomic_fetch_add(&((struct control *)self)->refs, 1) + 1;
}

static ULONG control_release(ICorProfilerFunctionControl *self)
{
    struct control *control = (struct control *)self;
    unsigned left = atomic_fetch_sub(&control->refs, 1) - 1;
    if (!left) {
        atomic_fetch_sub(&fake.live_objects, 1);
        free(control);
    }
    return left;
}

static HRESULT control_flags(ICorProfilerFunctionControl *self, DWORD flags)
{
    (void)self;
    (void)flags;
    return S_OK;
}

static HRESULT control_il(ICorProfilerFunctionControl *self, ULONG size, LPCBYTE il)
{
    HRESULT hr;
    if (!size || !il)
        return E_INVALIDARG;
    if (fake_fails("Control.SetILFunctionBody", &hr))
        return hr;
    ((struct control *)self)->il = fake_alloc(size, 0);
    memcpy(((struct control *)self)->il, il, size);
    return S_OK;
}

static HRESULT control_map(ICorProfilerFunctionControl *self, ULONG n, COR_IL_MAP *map)
{
    HRESULT hr = S_OK;
    (void)self;
    (void)n;
    (void)map;
    fake_fails("Control.SetILInstrumentedCodeMap", &hr);
    return hr;
}

static const ICorProfilerFunctionControlVtbl control_vtbl = {
    .QueryInterface = control_query,
    .AddRef = control_add_ref,
    .Release = control_release,
    .SetCodegenFlags = control_flags,
    .SetILFunctionBody = control_il,
    .SetILInstrumentedCodeMap = control_map,
};

HRESULT fake_rejit(struct fake_module *module, mdMethodDef token)
{
    struct fake_function *function = fake_function_by_token(module, token);
    if (!function)
        return E_INVALIDARG;
    struct control *control = calloc(1, sizeof(*control));
    if (!control)
        return E_OUTOFMEMORY;
    control->com.vtbl = &control_vtbl;
    atomic_store(&control->refs, 1);
    atomic_fetch_add(&fake.live_objects, 1);
    HRESULT hr = FAKE_RAISE(GetReJITParameters, (uint64_t)(uintptr_t)module, token,
                            (uint64_t)(uintptr_t)control);
    uint8_t *il = control->il;
    control_release(&control->com);
    if (FAILED(hr)) {
        FAKE_RAISE(ReJITError, (uint64_t)(uintptr_t)module, token, (uint64_t)(uintptr_t)function,
                   (uint64_t)hr);
        return hr;
    }
    uint32_t id = atomic_fetch_add(&function->rejits, 1) + 1;
    uint64_t fn = (uint64_t)(uintptr_t)function;
    FAKE_RAISE(ReJITCompilationStarted, fn, id, 1);
    fake_hook_compiled(function);
    if (fake_fails("ReJIT", &hr)) { /* the code in force does not change */
        FAKE_RAISE(ReJITCompilationFinished, fn, id, (uint64_t)hr, 1);
        return hr;
    }
    atomic_store(&function->now, il);
    FAKE_RAISE(ReJITCompilationFinished, fn, id, S_OK, 1);
    return S_OK;
}

HRESULT fake_rejit_request(struct fake_module *module, mdMethodDef token)
{
    struct fake_function *function = fake_function_by_token(module, token);
    HRESULT hr;
    if (!function)
        return E_INVALIDARG;
    if (fake_fails("ReJIT.refused", &hr))
        return hr;
    if (!function->body)
        return fake_rejit(module, token);
    if (!module->collectible) /* as in a CLR, a request for a collectible assembly is ignored */
        atomic_store(&function->version, FAKE_WANTED);
    return S_OK;
}

void fake_rejit_revert(struct fake_function *function)
{
    atomic_store(&function->rejits, 0);
    atomic_store(&function->version, FAKE_ORIGINAL);
    atomic_store(&function->now, NULL);
}
