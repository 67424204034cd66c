/* SPDX-License-Identifier: MIT */
/* enums.c - one enumerator for modules, threads and functions. The vtables of the three interfaces
 * differ in type names only. */
#include "tests/fake/fake.h"

struct items {
    ICorProfilerModuleEnum com;
    _Atomic unsigned refs;
    const GUID *iid;
    size_t item_size, n, at;
    uint8_t bytes[];
};

static HRESULT items_query(ICorProfilerModuleEnum *self, REFIID riid, void **out)
{
    bool known = memcmp(riid, &IID_IUnknown, sizeof(*riid)) == 0 ||
                 memcmp(riid, ((struct items *)self)->iid, sizeof(*riid)) == 0;
    *out = known ? self : NULL;
    if (known)
        self->vtbl->AddRef(self);
    return known ? S_OK : E_NOINTERFACE;
}

static ULONG items_add_ref(ICorProfilerModuleEnum *self)
{
    return atomic_fetch_add(&((struct items *)self)->refs, 1) + 1;
}

static ULONG items_release(ICorProfilerModuleEnum *self)
{
    struct items *items = (struct items *)self;
    unsigned left = atomic_fetch_sub(&items->refs, 1) - 1;
    if (!left) {
        atomic_fetch_sub(&fake.live_objects, 1);
        free(items);
    }
    return left;
}

static HRESULT items_skip(ICorProfilerModuleEnum *self, ULONG n)
{
    struct items *items = (struct items *)self;
    size_t left = items->n - items->at;
    items->at += n < left ? n : left;
    return n <= left ? S_OK : S_FALSE;
}

static HRESULT items_reset(ICorProfilerModuleEnum *self)
{
    ((struct items *)self)->at = 0;
    return S_OK;
}

static HRESULT items_clone(ICorProfilerModuleEnum *self, ICorProfilerModuleEnum **out)
{
    struct items *items = (struct items *)self;
    HRESULT hr = fake_enum_open(items->iid, items->bytes, items->item_size, items->n, (void **)out);
    if (SUCCEEDED(hr))
        ((struct items *)*out)->at = items->at;
    return hr;
}

static HRESULT items_count(ICorProfilerModuleEnum *self, ULONG *out)
{
    *out = (ULONG)((struct items *)self)->n;
    return S_OK;
}

static HRESULT items_next(ICorProfilerModuleEnum *self, ULONG n, ModuleID *out, ULONG *fetched)
{
    struct items *items = (struct items *)self;
    size_t left = items->n - items->at, take = n < left ? n : left;
    if (!out || (n > 1 && !fetched))
        return E_INVALIDARG;
    memcpy(out, items->bytes + items->at * items->item_size, take * items->item_size);
    items->at += take;
    if (fetched)
        *fetched = (ULONG)take;
    return take == n ? S_OK : S_FALSE;
}

static const ICorProfilerModuleEnumVtbl items_vtbl = {
    .QueryInterface = items_query,
    .AddRef = items_add_ref,
    .Release = items_release,
    .Skip = items_skip,
    .Reset = items_reset,
    .Clone = items_clone,
    .GetCount = items_count,
    .Next = items_next,
};

HRESULT fake_enum_open(const GUID *iid, const void *from, size_t item_size, size_t n, void **out)
{
    struct items *items = calloc(1, sizeof(*items) + n * item_size);
    *out = items;
    if (!items)
        return E_OUTOFMEMORY;
    items->com.vtbl = &items_vtbl;
    atomic_store(&items->refs, 1);
    items->iid = iid;
    items->item_size = item_size;
    items->n = n;
    if (n)
        memcpy(items->bytes, from, n * item_size);
    atomic_fetch_add(&fake.live_objects, 1);
    return S_OK;
}
