/* SPDX-License-Identifier: MIT */
/* metadata.c - IMetaDataImport2 of one module: the methods that are needed to name a method. */
#include "tests/fake/fake.h"

#define ROW(token) ((token)&0xFFFFFF)
/* The token of a generic parameter encodes its owner: bit 23 set for a method, clear for a type;
 * 3 bits position; 20 bits row. */
#define PARAM_TOKEN(method, row, at) (0x2A000000u | ((method) ? 1u << 23 : 0) | (at) << 20 | (row))

/* TypeRefs that signatures may use. Row numbers begin with 1. */
static const char *const type_refs[] = {"System.Object", "System.DateTime", "System.Guid",
                                        "System.Collections.Generic.List`1",
                                        "System.Collections.Generic.Dictionary`2"};

HRESULT meta_QueryInterface(IMetaDataImport2 *self, REFIID riid, void **out)
{
    static const GUID *const known[] = {&IID_IUnknown, &IID_IMetaDataImport, &IID_IMetaDataImport2};
    struct fake_metadata *data = (struct fake_metadata *)self;
    HRESULT hr;
    *out = NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (memcmp(riid, known[i], sizeof(*riid)) == 0)
            *out = self;
    if (memcmp(riid, &IID_IMetaDataAssemblyImport, sizeof(*riid)) == 0 &&
        !fake_fails("QueryInterface.AssemblyImport", &hr))
        *out = &data->assemblies;
    if (memcmp(riid, &IID_IMetaDataEmit2, sizeof(*riid)) == 0 &&
        !fake_fails("QueryInterface.Emit", &hr))
        *out = &data->emit;
    if (memcmp(riid, &IID_IMetaDataAssemblyEmit, sizeof(*riid)) == 0 &&
        !fake_fails("QueryInterface.AssemblyEmit", &hr))
        *out = &data->emit_assemblies;
    if (!*out)
        return E_NOINTERFACE;
    meta_AddRef(self);
    return S_OK;
}

ULONG meta_AddRef(IMetaDataImport2 *self)
{
    return atomic_fetch_add(&((struct fake_metadata *)self)->refs, 1) + 1;
}

ULONG meta_Release(IMetaDataImport2 *self)
{
    struct fake_metadata *data = (struct fake_metadata *)self;
    unsigned left = atomic_fetch_sub(&data->refs, 1) - 1;
    if (!left) {
        atomic_fetch_sub(&fake.live_objects, 1);
        free(data);
    }
    return left;
}

HRESULT fake_metadata_open(struct fake_module *module, const GUID *iid, IUnknown **out)
{
    struct fake_metadata *data = calloc(1, sizeof(*data));
    *out = NULL;
    if (!data)
        return E_OUTOFMEMORY;
    data->com.vtbl = &meta_vtbl;
    data->assemblies.vtbl = &fake_assembly_import_vtbl;
    data->emit.vtbl = &fake_emit_vtbl;
    data->emit_assemblies.vtbl = &fake_assembly_emit_vtbl;
    atomic_store(&data->refs, 1);
    data->module = module;
    atomic_fetch_add(&fake.live_objects, 1);
    HRESULT hr = meta_QueryInterface(&data->com, iid, (void **)out);
    meta_Release(&data->com);
    return hr;
}

static struct fake_class *class_at(IMetaDataImport2 *self, mdToken token)
{
    return fake_class_by_token(((struct fake_metadata *)self)->module, token);
}

static HRESULT name_out(const char *name, LPWSTR out, ULONG cch, ULONG *needed)
{
    fake_wide(name, out, cch, needed);
    return out && strlen(name) + 1 > cch ? CLDB_S_TRUNCATION : S_OK;
}

HRESULT meta_GetScopeProps(IMetaDataImport2 *self, LPWSTR name, ULONG cch, ULONG *needed,
                           GUID *mvid)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    const char *slash = strrchr(module->path, '/');
    if (mvid)
        *mvid = (GUID){.Data1 = 0xFA4E0000u | module->number, .Data2 = (USHORT)fake.major};
    return name_out(slash ? slash + 1 : module->path, name, cch, needed);
}

HRESULT meta_GetModuleFromScope(IMetaDataImport2 *self, mdModule *out)
{
    (void)self;
    *out = 1;
    return S_OK;
}

HRESULT meta_GetTypeDefProps(IMetaDataImport2 *self, mdTypeDef token, LPWSTR name, ULONG cch,
                             ULONG *needed, DWORD *flags, mdToken *extends)
{
    struct fake_class *type = class_at(self, token);
    if (!type)
        return CLDB_E_RECORD_NOTFOUND;
    if (flags)
        *flags = type->enclosing ? tdNestedPublic : tdPublic;
    if (extends)
        *extends = 0x01000001;
    return name_out(type->name, name, cch, needed);
}

HRESULT meta_GetNestedClassProps(IMetaDataImport2 *self, mdTypeDef token, mdTypeDef *enclosing)
{
    struct fake_class *type = class_at(self, token);
    if (!type || !type->enclosing)
        return CLDB_E_RECORD_NOTFOUND;
    *enclosing = 0x02000000u | type->enclosing->row;
    return S_OK;
}

HRESULT meta_GetTypeRefProps(IMetaDataImport2 *self, mdTypeRef token, mdToken *scope, LPWSTR name,
                             ULONG cch, ULONG *needed)
{
    (void)self;
    unsigned row = ROW(token);
    if (token >> 24 != 0x01 || !row || row > sizeof(type_refs) / sizeof(type_refs[0]))
        return CLDB_E_RECORD_NOTFOUND;
    if (scope)
        *scope = 0x23000001;
    return name_out(type_refs[row - 1], name, cch, needed);
}

HRESULT meta_GetMethodProps(IMetaDataImport2 *self, mdMethodDef token, mdTypeDef *type,
                            LPWSTR name, ULONG cch, ULONG *needed, DWORD *attributes,
                            PCCOR_SIGNATURE *sig, ULONG *sig_size, ULONG *rva, DWORD *impl)
{
    struct fake_function *function =
        fake_function_by_token(((struct fake_metadata *)self)->module, token);
    HRESULT hr;
    if (fake_fails("Import.GetMethodProps", &hr))
        return hr;
    if (!function)
        return CLDB_E_RECORD_NOTFOUND;
    if (type)
        *type = 0x02000000u | function->type->row;
    if (attributes)
        *attributes = mdPublic;
    if (sig)
        *sig = function->sig;
    if (sig_size)
        *sig_size = function->sig_size;
    if (rva)
        *rva = 0x2000 + function->row * 16;
    if (impl)
        *impl = 0;
    return name_out(function->name, name, cch, needed);
}

HRESULT meta_GetMemberProps(IMetaDataImport2 *self, mdToken token, mdTypeDef *type, LPWSTR name,
                            ULONG cch, ULONG *needed, DWORD *attributes, PCCOR_SIGNATURE *sig,
                            ULONG *sig_size, ULONG *rva, DWORD *impl, DWORD *constant_type,
                            UVCP_CONSTANT *constant, ULONG *constant_size)
{
    if (constant_type)
        *constant_type = 0;
    if (constant)
        *constant = NULL;
    if (constant_size)
        *constant_size = 0;
    return meta_GetMethodProps(self, token, type, name, cch, needed, attributes, sig, sig_size, rva,
                               impl);
}

BOOL meta_IsValidToken(IMetaDataImport2 *self, mdToken token)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    return fake_class_by_token(module, token) || fake_function_by_token(module, token);
}

HRESULT meta_FindTypeDefByName(IMetaDataImport2 *self, LPCWSTR name, mdToken enclosing,
                               mdTypeDef *out)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    char text[96];
    size_t len = 0;
    for (; name[len] && len + 1 < sizeof(text); len++)
        text[len] = (char)name[len];
    text[len] = 0;
    unsigned n = atomic_load(&fake.n_classes), outer = ROW(enclosing);
    for (unsigned i = 1; i <= n && i < FAKE_MAX_ITEMS; i++) {
        struct fake_class *type = atomic_load(&fake.classes[i]);
        if (!type || type->module != module || type->row != type->number || type->element ||
            strcmp(type->name, text) != 0 || (type->enclosing ? type->enclosing->row : 0) != outer)
            continue;
        *out = 0x02000000u | type->row;
        return S_OK;
    }
    return CLDB_E_RECORD_NOTFOUND;
}

/* The state of the enumeration is the number of parameters returned so far, plus one. */
HRESULT meta_EnumGenericParams(IMetaDataImport2 *self, HCORENUM *state, mdToken owner,
                               mdGenericParam *out, ULONG max, ULONG *fetched)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    struct fake_class *type = fake_class_by_token(module, owner);
    struct fake_function *function = fake_function_by_token(module, owner);
    unsigned n = type ? type->n_args : function ? function->n_args : 0;
    uintptr_t at = *state ? (uintptr_t)*state - 1 : 0;
    ULONG take = 0;
    for (; at < n && take < max; at++)
        out[take++] = PARAM_TOKEN(function != NULL, ROW(owner) & 0xFFFFF, (unsigned)at);
    *state = (HCORENUM)(at + 1);
    if (fetched)
        *fetched = take;
    return take ? S_OK : S_FALSE;
}

HRESULT meta_GetGenericParamProps(IMetaDataImport2 *self, mdGenericParam token, ULONG *at,
                                  DWORD *flags, mdToken *owner, DWORD *reserved, LPWSTR name,
                                  ULONG cch, ULONG *needed)
{
    (void)self;
    bool method = token & 1u << 23;
    unsigned position = token >> 20 & 7;
    char text[8];
    if (token >> 24 != 0x2A)
        return CLDB_E_RECORD_NOTFOUND;
    snprintf(text, sizeof(text), "%s%u", method ? "M" : "T", position);
    if (at)
        *at = position;
    if (flags)
        *flags = 0;
    if (owner)
        *owner = (method ? 0x06000000u : 0x02000000u) | (token & 0xFFFFF);
    if (reserved)
        *reserved = 0;
    return name_out(text, name, cch, needed);
}

void meta_CloseEnum(IMetaDataImport2 *self, HCORENUM state)
{
    (void)self;
    (void)state; /* nothing was allocated */
}

HRESULT meta_CountEnum(IMetaDataImport2 *self, HCORENUM state, ULONG *out)
{
    (void)self;
    *out = state ? (ULONG)((uintptr_t)state - 1) : 0;
    return S_OK;
}
