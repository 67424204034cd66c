/* SPDX-License-Identifier: MIT */
/* info_heap.c - Info methods about modules, classes, objects, handles, domains and threads. */
#include "tests/fake/fake.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))

HRESULT fake_GetModuleInfo(ICorProfilerInfo15 *self, ModuleID id, LPCBYTE *base, ULONG cch,
                           ULONG *needed, WCHAR *name, AssemblyID *assembly)
{
    (void)self;
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    if (!module)
        return E_INVALIDARG;
    if (atomic_load(&module->unloaded))
        return CORPROF_E_DATAINCOMPLETE;
    if (base)
        *base = (LPCBYTE)(uintptr_t)(0x10000000u + module->number * 0x100000u);
    fake_wide(module->path, name, cch, needed);
    if (assembly)
        *assembly = ID(module->assembly);
    return S_OK;
}

HRESULT fake_GetModuleInfo2(ICorProfilerInfo15 *self, ModuleID id, LPCBYTE *base, ULONG cch,
                            ULONG *needed, WCHAR *name, AssemblyID *assembly, DWORD *flags)
{
    const struct fake_module *module = fake_find_module(id);
    if (!module)
        return E_INVALIDARG;
    if (flags)
        *flags = COR_PRF_MODULE_DISK | (module->collectible ? COR_PRF_MODULE_COLLECTIBLE : 0);
    return fake_GetModuleInfo(self, id, base, cch, needed, name, assembly);
}

/* Refused on a thread of this runtime outside a callback, as measured on real runtimes. */
HRESULT fake_GetModuleMetaData(ICorProfilerInfo15 *self, ModuleID id, DWORD flags, REFIID riid,
                               IUnknown **out)
{
    (void)self;
    (void)flags;
    struct fake_module *module = fake_find_module(id);
    if (!module || !out)
        return E_INVALIDARG;
    if (fake_self && !fake_in_callback)
        return CORPROF_E_UNSUPPORTED_CALL_SEQUENCE;
    return fake_metadata_open(module, riid, out);
}

HRESULT fake_GetTokenAndMetaDataFromFunction(ICorProfilerInfo15 *self, FunctionID id, REFIID riid,
                                             IUnknown **out, mdToken *token)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    if (!function || function->dynamic)
        return E_INVALIDARG;
    if (token)
        *token = 0x06000000u | function->row;
    return out ? fake_GetModuleMetaData(self, ID(function->module), 0, riid, out) : S_OK;
}

HRESULT fake_GetAssemblyInfo(ICorProfilerInfo15 *self, AssemblyID id, ULONG cch, ULONG *needed,
                             WCHAR *name, AppDomainID *domain, ModuleID *module)
{
    (void)self;
    struct fake_assembly *assembly = fake_find(id, FAKE_ASSEMBLY);
    char text[200];
    if (!assembly)
        return E_INVALIDARG;
    const char *slash = strrchr(assembly->module->path, '/');
    snprintf(text, sizeof(text), "%s", slash ? slash + 1 : assembly->module->path);
    char *dot = strrchr(text, '.');
    if (dot && strcmp(dot, ".dll") == 0)
        *dot = 0;
    fake_wide(text, name, cch, needed);
    if (domain)
        *domain = ID(fake.domain);
    if (module)
        *module = ID(assembly->module);
    return S_OK;
}

HRESULT fake_GetAppDomainInfo(ICorProfilerInfo15 *self, AppDomainID id, ULONG cch, ULONG *needed,
                              WCHAR *name, ProcessID *process)
{
    (void)self;
    if (!fake_find(id, FAKE_APPDOMAIN))
        return E_INVALIDARG;
    fake_wide("clrhost", name, cch, needed);
    if (process)
        *process = 0;
    return S_OK;
}

HRESULT fake_GetAppDomainsContainingModule(ICorProfilerInfo15 *self, ModuleID id, ULONG32 n,
                                           ULONG32 *needed, AppDomainID *out)
{
    (void)self;
    if (!fake_find(id, FAKE_MODULE) || !needed)
        return E_INVALIDARG;
    *needed = 1;
    if (out && n)
        out[0] = ID(fake.domain);
    return S_OK;
}

HRESULT fake_EnumModules(ICorProfilerInfo15 *self, ICorProfilerModuleEnum **out)
{
    (void)self;
    ModuleID items[1024];
    unsigned n = atomic_load(&fake.n_modules), found = 0;
    if (!out)
        return E_INVALIDARG;
    for (unsigned i = 0; i < n && i < 1024; i++) {
        struct fake_module *module = atomic_load(&fake.modules[i]);
        if (module && !atomic_load(&module->unloaded))
            items[found++] = ID(module);
    }
    return fake_enum_open(&IID_ICorProfilerModuleEnum, items, sizeof(items[0]), found,
                          (void **)out);
}

HRESULT fake_EnumThreads(ICorProfilerInfo15 *self, ICorProfilerThreadEnum **out)
{
    (void)self;
    unsigned n = atomic_load(&fake.n_threads), found = 0;
    if (!out)
        return E_INVALIDARG;
    ThreadID *items = calloc(FAKE_MAX_THREADS, sizeof(*items));
    if (!items)
        return E_OUTOFMEMORY;
    for (unsigned i = 0; i < n && i < FAKE_MAX_THREADS; i++) {
        struct fake_thread *thread = atomic_load(&fake.threads[i]);
        if (thread && atomic_load(&thread->state) == FAKE_RUNNING)
            items[found++] = ID(thread);
    }
    HRESULT hr = fake_enum_open(&IID_ICorProfilerThreadEnum, items, sizeof(items[0]), found,
                                (void **)out);
    free(items);
    return hr;
}

HRESULT fake_GetClassIDInfo2(ICorProfilerInfo15 *self, ClassID id, ModuleID *module,
                             mdTypeDef *token, ClassID *parent, ULONG32 n_args, ULONG32 *needed,
                             ClassID *args)
{
    (void)self;
    struct fake_class *type = fake_find(id, FAKE_CLASS);
    if (!type)
        return E_INVALIDARG;
    if (type->element)
        return CORPROF_E_CLASSID_IS_ARRAY;
    if (module)
        *module = ID(type->module);
    if (token)
        *token = 0x02000000u | type->row;
    if (parent)
        *parent = 0;
    if (needed)
        *needed = type->n_args;
    for (ULONG32 i = 0; args && i < n_args && i < type->n_args; i++)
        args[i] = type->args[i];
    return S_OK;
}

HRESULT fake_GetClassIDInfo(ICorProfilerInfo15 *self, ClassID id, ModuleID *module,
                            mdTypeDef *token)
{
    return fake_GetClassIDInfo2(self, id, module, token, NULL, 0, NULL, NULL);
}

HRESULT fake_IsArrayClass(ICorProfilerInfo15 *self, ClassID id, CorElementType *element,
                          ClassID *base, ULONG *rank)
{
    (void)self;
    struct fake_class *type = fake_find(id, FAKE_CLASS);
    if (!type)
        return E_INVALIDARG;
    if (!type->element)
        return S_FALSE;
    if (element)
        *element = ELEMENT_TYPE_CLASS;
    if (base)
        *base = ID(type->element);
    if (rank)
        *rank = type->rank;
    return S_OK;
}

HRESULT fake_GetClassFromToken(ICorProfilerInfo15 *self, ModuleID id, mdTypeDef token,
                               ClassID *out)
{
    (void)self;
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    struct fake_class *type = module ? fake_class_by_token(module, token) : NULL;
    if (!type || !out)
        return E_INVALIDARG;
    *out = ID(type);
    return S_OK;
}

HRESULT fake_GetClassFromObject(ICorProfilerInfo15 *self, ObjectID id, ClassID *out)
{
    (void)self;
    struct fake_object *object = fake_find(id, FAKE_OBJECT);
    if (!object || !out)
        return E_INVALIDARG;
    *out = ID(object->type);
    return S_OK;
}

HRESULT fake_GetObjectSize2(ICorProfilerInfo15 *self, ObjectID id, SIZE_T *out)
{
    (void)self;
    if (!fake_find(id, FAKE_OBJECT) || !out)
        return E_INVALIDARG;
    *out = 24; /* size of the smallest object */
    return S_OK;
}

HRESULT fake_GetObjectSize(ICorProfilerInfo15 *self, ObjectID id, ULONG *out)
{
    SIZE_T size = 0;
    HRESULT hr = fake_GetObjectSize2(self, id, &size);
    if (SUCCEEDED(hr) && out)
        *out = (ULONG)size;
    return hr;
}

HRESULT fake_CreateHandle(ICorProfilerInfo15 *self, ObjectID object, COR_PRF_HANDLE_TYPE type,
                          ObjectHandleID *out)
{
    (void)self;
    struct fake_object *target = fake_find(object, FAKE_OBJECT);
    struct fake_handle *handle;
    if (!target || !out || type < COR_PRF_HANDLE_TYPE_WEAK || type > COR_PRF_HANDLE_TYPE_PINNED)
        return E_INVALIDARG;
    handle = fake_alloc(sizeof(*handle), FAKE_HANDLE);
    atomic_store(&handle->object, target);
    fake_publish(&handle->id);
    atomic_fetch_add(&fake.handles, 1);
    *out = (ObjectHandleID)ID(handle);
    return S_OK;
}

HRESULT fake_DestroyHandle(ICorProfilerInfo15 *self, ObjectHandleID id)
{
    (void)self;
    struct fake_handle *handle = fake_find((uint64_t)(uintptr_t)id, FAKE_HANDLE);
    if (!handle || !atomic_exchange(&handle->object, NULL))
        return E_INVALIDARG;
    atomic_fetch_sub(&fake.handles, 1);
    return S_OK;
}

HRESULT fake_GetObjectIDFromHandle(ICorProfilerInfo15 *self, ObjectHandleID id, ObjectID *out)
{
    (void)self;
    struct fake_handle *handle = fake_find((uint64_t)(uintptr_t)id, FAKE_HANDLE);
    struct fake_object *object = handle ? atomic_load(&handle->object) : NULL;
    uint64_t dropped;
    if (!object || !out)
        return E_INVALIDARG;
    dropped = atomic_load(&object->dropped);
    *out = dropped && atomic_load(&fake.gcs) >= dropped ? 0 : ID(object);
    return S_OK;
}

/* Each collection promotes the objects that it finds. */
HRESULT fake_GetObjectGeneration(ICorProfilerInfo15 *self, ObjectID id,
                                 COR_PRF_GC_GENERATION_RANGE *out)
{
    (void)self;
    struct fake_object *object = fake_find(id, FAKE_OBJECT);
    uint64_t survived;
    if (!object || !out)
        return E_INVALIDARG;
    survived = atomic_load(&fake.gcs) - object->born;
    *out = (COR_PRF_GC_GENERATION_RANGE){.generation = survived < 2 ? (int)survived : 2,
                                         .rangeStart = id,
                                         .rangeLength = sizeof(*object)};
    return S_OK;
}

HRESULT fake_GetCurrentThreadID(ICorProfilerInfo15 *self, ThreadID *out)
{
    (void)self;
    if (!out)
        return E_INVALIDARG;
    if (!fake_self)
        return CORPROF_E_NOT_MANAGED_THREAD;
    *out = ID(fake_self);
    return S_OK;
}

HRESULT fake_GetThreadInfo(ICorProfilerInfo15 *self, ThreadID id, DWORD *os_id)
{
    (void)self;
    struct fake_thread *thread = fake_find(id, FAKE_THREAD);
    if (!thread)
        return E_INVALIDARG;
    if (os_id)
        *os_id = atomic_load(&thread->os_id);
    return S_OK;
}

HRESULT fake_GetThreadAppDomain(ICorProfilerInfo15 *self, ThreadID id, AppDomainID *out)
{
    (void)self;
    if (!fake_find(id, FAKE_THREAD) || !out)
        return E_INVALIDARG;
    *out = ID(fake.domain);
    return S_OK;
}
