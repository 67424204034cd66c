/* SPDX-License-Identifier: MIT */
/* function_control.c - the results of the methods are those of the runtimes' own objects (8 to 10):
 * any flags and any map are accepted, a later call replaces what was set before. */
#include "rejit/function_control.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "manager/guid.h"

static struct function_control *control_of(ICorProfilerFunctionControl *self)
{
    return container_of(self, struct function_control, com);
}

static HRESULT control_QueryInterface(ICorProfilerFunctionControl *self, const GUID *iid,
                                      void **out)
{
    if (!out)
        return E_POINTER;
    *out = iid && (sxs_guid_equal(iid, &IID_IUnknown) ||
                   sxs_guid_equal(iid, &IID_ICorProfilerFunctionControl))
               ? self
               : NULL;
    if (!*out)
        return E_NOINTERFACE;
    self->vtbl->AddRef(self);
    return S_OK;
}

static ULONG control_AddRef(ICorProfilerFunctionControl *self)
{
    return atomic_fetch_add(&control_of(self)->refs, 1) + 1;
}

static ULONG control_Release(ICorProfilerFunctionControl *self)
{
    struct function_control *c = control_of(self);
    unsigned                 left = atomic_fetch_sub(&c->refs, 1) - 1;
    if (left == 0) {
        free(c->body);
        free(c->map);
        free(c);
    }
    return left;
}

static HRESULT control_SetCodegenFlags(ICorProfilerFunctionControl *self, DWORD flags)
{
    control_of(self)->flags = flags;
    return S_OK;
}

static HRESULT control_SetILFunctionBody(ICorProfilerFunctionControl *self, ULONG size,
                                         LPCBYTE bytes)
{
    struct function_control *c = control_of(self);
    uint8_t                 *copy;
    if (!size || !bytes)
        return E_INVALIDARG;
    copy = malloc(size);
    if (!copy)
        return E_OUTOFMEMORY;
    memcpy(copy, bytes, size);
    free(c->body);
    c->body = copy;
    c->size = size;
    return S_OK;
}

static HRESULT control_SetILInstrumentedCodeMap(ICorProfilerFunctionControl *self, ULONG n,
                                                COR_IL_MAP *rows)
{
    struct function_control *c = control_of(self);
    COR_IL_MAP              *copy = n && rows ? calloc(n, sizeof(*copy)) : NULL;
    if (n && rows && !copy)
        return E_OUTOFMEMORY;
    if (copy)
        memcpy(copy, rows, n * sizeof(*copy));
    free(c->map);
    c->map = copy;
    c->n_map = copy ? n : 0;
    return S_OK;
}

static const ICorProfilerFunctionControlVtbl table = {
    .QueryInterface = control_QueryInterface,
    .AddRef = control_AddRef,
    .Release = control_Release,
    .SetCodegenFlags = control_SetCodegenFlags,
    .SetILFunctionBody = control_SetILFunctionBody,
    .SetILInstrumentedCodeMap = control_SetILInstrumentedCodeMap,
};

struct function_control *function_control_new(void)
{
    struct function_control *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->com.vtbl = &table;
    atomic_init(&c->refs, 1);
    return c;
}
