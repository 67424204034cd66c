/* SPDX-License-Identifier: MIT */
/* metadata_write.c - metadata that profilers define: stores it, and finds it again. */
#include "tests/fake/fake.h"

#define MAX_MADE 8192
#define FIRST_ROW 0x1000 /* above all rows that modules have when they are loaded */

struct made {
    struct fake_module *module;
    mdToken token, scope;
    ULONG size;
    const uint8_t *bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made all[MAX_MADE]; /* appended to under `lock`; the first n_made are read without */
static _Atomic unsigned n_made;

static mdToken find(struct fake_module *module, unsigned table, mdToken scope, const void *bytes,
                    size_t size)
{
    unsigned n = atomic_load_explicit(&n_made, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (all[i].module == module && all[i].token >> 24 == table && all[i].scope == scope &&
            all[i].size == size && memcmp(all[i].bytes, bytes, size) == 0)
            return all[i].token;
    return 0;
}

mdToken fake_token_find(struct fake_module *module, unsigned table, mdToken scope,
                        const void *bytes, size_t size)
{
    return find(module, table, scope, bytes, size);
}

mdToken fake_token(struct fake_module *module, unsigned table, mdToken scope, const void *bytes,
                   size_t size)
{
    pthread_mutex_lock(&lock);
    mdToken token = find(module, table, scope, bytes, size);
    unsigned n = atomic_load(&n_made);
    if (!token && n < MAX_MADE) {
        uint8_t *copy = fake_alloc(size + 1, 0);
        memcpy(copy, bytes, size);
        token = table << 24 | (FIRST_ROW + n);
        all[n] = (struct made){module, token, scope, (ULONG)size, copy};
        atomic_store_explicit(&n_made, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return token;
}

static const struct made *made_as(struct fake_module *module, mdToken token)
{
    unsigned at = (token & 0xFFFFFF) - FIRST_ROW;
    bool is = at < atomic_load_explicit(&n_made, memory_order_acquire) &&
              all[at].module == module && all[at].token == token;
    return is ? &all[at] : NULL;
}

const uint8_t *fake_token_bytes(struct fake_module *module, mdToken token, ULONG *size)
{
    const struct made *made = made_as(module, token);
    if (!made)
        return NULL;
    *size = made->size;
    return made->bytes;
}

mdToken fake_token_scope(struct fake_module *module, mdToken token)
{
    const struct made *made = made_as(module, token);
    return made ? made->scope : 0;
}

static size_t bytes_of(LPCWSTR text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n * sizeof(*text);
}

/* ---- IMetaDataEmit2 ------------------------------------------------------------------------- */

#define OWNER(self, member) \
    ((struct fake_metadata *)(void *)((char *)(self) - offsetof(struct fake_metadata, member)))

static HRESULT make(struct fake_module *module, const char *what, unsigned table, mdToken scope,
                    const void *bytes, size_t size, mdToken *out)
{
    HRESULT hr;
    if (fake_fails(what, &hr))
        return hr;
    if (atomic_load(&module->unloaded))
        fake_find_module((uint64_t)(uintptr_t)module);
    *out = fake_token(module, table, scope, bytes, size);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT emit_query(IMetaDataEmit2 *self, REFIID riid, void **out)
{
    return meta_QueryInterface(&OWNER(self, emit)->com, riid, out);
}

static ULONG emit_add_ref(IMetaDataEmit2 *self)
{
    return meta_AddRef(&OWNER(self, emit)->com);
}

static ULONG emit_release(IMetaDataEmit2 *self)
{
    return meta_Release(&OWNER(self, emit)->com);
}

static HRESULT emit_type_ref(IMetaDataEmit2 *self, mdToken scope, LPCWSTR name, mdTypeRef *out)
{
    return make(OWNER(self, emit)->module, "Emit.DefineTypeRefByName", 0x01, scope, name,
                bytes_of(name), out);
}

static HRESULT emit_signature(IMetaDataEmit2 *self, PCCOR_SIGNATURE sig, ULONG size,
                              mdSignature *out)
{
    return make(OWNER(self, emit)->module, "Emit.GetTokenFromSig", 0x11, 0, sig, size, out);
}

static HRESULT emit_type_spec(IMetaDataEmit2 *self, PCCOR_SIGNATURE sig, ULONG size,
                              mdTypeSpec *out)
{
    return make(OWNER(self, emit)->module, "Emit.GetTokenFromTypeSpec", 0x1b, 0, sig, size, out);
}

static HRESULT emit_string(IMetaDataEmit2 *self, LPCWSTR text, ULONG n, mdString *out)
{
    return make(OWNER(self, emit)->module, "Emit.DefineUserString", 0x70, 0, text,
                n * sizeof(*text), out);
}

/* A member is stored as its name, a zero, and its signature. Returns the size in bytes; 0 if it is
 * larger than @cap. */
static size_t member_bytes(LPCWSTR name, PCCOR_SIGNATURE sig, ULONG size, uint8_t *out, size_t cap)
{
    size_t n = bytes_of(name) + sizeof(*name);
    if (n + size > cap)
        return 0;
    memcpy(out, name, n);
    memcpy(out + n, sig, size);
    return n + size;
}

static HRESULT emit_member_ref(IMetaDataEmit2 *self, mdToken owner, LPCWSTR name,
                               PCCOR_SIGNATURE sig, ULONG size, mdMemberRef *out)
{
    uint8_t bytes[1024];
    size_t n = member_bytes(name, sig, size, bytes, sizeof(bytes));
    return n ? make(OWNER(self, emit)->module, "Emit.DefineMemberRef", 0x0a, owner, bytes, n, out)
             : E_INVALIDARG;
}

const IMetaDataEmit2Vtbl fake_emit_vtbl = {
    .QueryInterface = emit_query,
    .AddRef = emit_add_ref,
    .Release = emit_release,
    .DefineTypeRefByName = emit_type_ref,
    .GetTokenFromSig = emit_signature,
    .GetTokenFromTypeSpec = emit_type_spec,
    .DefineUserString = emit_string,
    .DefineMemberRef = emit_member_ref,
};

/* ---- IMetaDataAssemblyEmit ------------------------------------------------------------------ */

static HRESULT aemit_query(IMetaDataAssemblyEmit *self, REFIID riid, void **out)
{
    return meta_QueryInterface(&OWNER(self, emit_assemblies)->com, riid, out);
}

static ULONG aemit_add_ref(IMetaDataAssemblyEmit *self)
{
    return meta_AddRef(&OWNER(self, emit_assemblies)->com);
}

static ULONG aemit_release(IMetaDataAssemblyEmit *self)
{
    return meta_Release(&OWNER(self, emit_assemblies)->com);
}

static HRESULT aemit_assembly_ref(IMetaDataAssemblyEmit *self, const void *key, ULONG key_size,
                                  LPCWSTR name, const ASSEMBLYMETADATA *data, const void *hash,
                                  ULONG hash_size, DWORD flags, mdAssemblyRef *out)
{
    (void)key;
    (void)key_size;
    (void)data;
    (void)hash;
    (void)hash_size;
    (void)flags;
    return make(OWNER(self, emit_assemblies)->module, "AssemblyEmit.DefineAssemblyRef", 0x23, 0,
                name, bytes_of(name), out);
}

const IMetaDataAssemblyEmitVtbl fake_assembly_emit_vtbl = {
    .QueryInterface = aemit_query,
    .AddRef = aemit_add_ref,
    .Release = aemit_release,
    .DefineAssemblyRef = aemit_assembly_ref,
};

/* ---- IMetaDataAssemblyImport ---------------------------------------------------------------- */

static HRESULT aimport_query(IMetaDataAssemblyImport *self, REFIID riid, void **out)
{
    return meta_QueryInterface(&OWNER(self, assemblies)->com, riid, out);
}

static ULONG aimport_add_ref(IMetaDataAssemblyImport *self)
{
    return meta_AddRef(&OWNER(self, assemblies)->com);
}

static ULONG aimport_release(IMetaDataAssemblyImport *self)
{
    return meta_Release(&OWNER(self, assemblies)->com);
}

static HRESULT aimport_own(IMetaDataAssemblyImport *self, mdAssembly *out)
{
    HRESULT hr;
    (void)self;
    if (fake_fails("AssemblyImport.GetAssemblyFromScope", &hr))
        return hr;
    *out = 0x20000001;
    return S_OK;
}

static HRESULT aimport_props(IMetaDataAssemblyImport *self, mdAssembly token, const void **key,
                             ULONG *key_size, ULONG *hash, LPWSTR name, ULONG cch, ULONG *needed,
                             ASSEMBLYMETADATA *data, DWORD *flags)
{
    const struct fake_module *module = OWNER(self, assemblies)->module;
    const char *slash = strrchr(module->path, '/');
    char text[200];
    (void)token;
    (void)key;
    (void)key_size;
    (void)hash;
    (void)flags;
    snprintf(text, sizeof(text), "%s", slash ? slash + 1 : module->path);
    text[strcspn(text, ".")] = '\0';
    if (name)
        fake_wide(text, name, cch, needed);
    if (data)
        data->usMajorVersion = 1;
    return S_OK;
}

/* Enumerates the assembly references that the profiler defined. The state is an index in `all`. */
static HRESULT aimport_refs(IMetaDataAssemblyImport *self, HCORENUM *state, mdAssemblyRef *out,
                            ULONG max, ULONG *fetched)
{
    const struct fake_module *module = OWNER(self, assemblies)->module;
    unsigned n = atomic_load_explicit(&n_made, memory_order_acquire);
    uintptr_t at = (uintptr_t)*state;
    ULONG take = 0;
    for (; at < n && take < max; at++)
        if (all[at].module == module && all[at].token >> 24 == 0x23)
            out[take++] = all[at].token;
    *state = (HCORENUM)at;
    if (fetched)
        *fetched = take;
    return take ? S_OK : S_FALSE;
}

static HRESULT aimport_ref_props(IMetaDataAssemblyImport *self, mdAssemblyRef token,
                                 const void **key, ULONG *key_size, LPWSTR name, ULONG cch,
                                 ULONG *needed, ASSEMBLYMETADATA *data, const void **hash,
                                 ULONG *hash_size, DWORD *flags)
{
    ULONG size = 0;
    const uint8_t *bytes = fake_token_bytes(OWNER(self, assemblies)->module, token, &size);
    (void)key;
    (void)key_size;
    (void)data;
    (void)hash;
    (void)hash_size;
    (void)flags;
    if (!bytes || size / sizeof(*name) >= cch)
        return CLDB_E_RECORD_NOTFOUND;
    memcpy(name, bytes, size);
    name[size / sizeof(*name)] = 0;
    if (needed)
        *needed = (ULONG)(size / sizeof(*name)) + 1;
    return S_OK;
}

static void aimport_close(IMetaDataAssemblyImport *self, HCORENUM state)
{
    (void)self;
    (void)state; /* nothing was allocated */
}

const IMetaDataAssemblyImportVtbl fake_assembly_import_vtbl = {
    .QueryInterface = aimport_query,
    .AddRef = aimport_add_ref,
    .Release = aimport_release,
    .GetAssemblyFromScope = aimport_own,
    .GetAssemblyProps = aimport_props,
    .EnumAssemblyRefs = aimport_refs,
    .GetAssemblyRefProps = aimport_ref_props,
    .CloseEnum = aimport_close,
};

/* ---- IMetaDataImport2: tokens that were defined, types and methods that exist --------------- */

HRESULT meta_FindTypeRef(IMetaDataImport2 *self, mdToken scope, LPCWSTR name, mdTypeRef *out)
{
    *out = fake_token_find(((struct fake_metadata *)self)->module, 0x01, scope, name,
                           bytes_of(name));
    return *out ? S_OK : CLDB_E_RECORD_NOTFOUND;
}

HRESULT meta_FindMemberRef(IMetaDataImport2 *self, mdTypeRef owner, LPCWSTR name,
                           PCCOR_SIGNATURE sig, ULONG size, mdMemberRef *out)
{
    uint8_t bytes[1024];
    size_t n = member_bytes(name, sig, size, bytes, sizeof(bytes));
    *out = fake_token_find(((struct fake_metadata *)self)->module, 0x0a, owner, bytes, n);
    return *out ? S_OK : CLDB_E_RECORD_NOTFOUND;
}

/* Returns the signature and the owner. The name is not set, because no caller asks for it. */
HRESULT meta_GetMemberRefProps(IMetaDataImport2 *self, mdMemberRef token, mdToken *owner,
                               LPWSTR name, ULONG cch, ULONG *needed, PCCOR_SIGNATURE *sig,
                               ULONG *size)
{
    const struct made *made = made_as(((struct fake_metadata *)self)->module, token);
    (void)name;
    (void)cch;
    (void)needed;
    if (!made || token >> 24 != 0x0a)
        return CLDB_E_RECORD_NOTFOUND;
    size_t n = bytes_of((LPCWSTR)(const void *)made->bytes) + sizeof(WCHAR);
    if (owner)
        *owner = made->scope;
    if (sig)
        *sig = made->bytes + n;
    if (size)
        *size = made->size - (ULONG)n;
    return S_OK;
}

HRESULT meta_GetSigFromToken(IMetaDataImport2 *self, mdSignature token, PCCOR_SIGNATURE *sig,
                             ULONG *size)
{
    *sig = fake_token_bytes(((struct fake_metadata *)self)->module, token, size);
    return *sig ? S_OK : CLDB_E_RECORD_NOTFOUND;
}

HRESULT meta_EnumTypeDefs(IMetaDataImport2 *self, HCORENUM *state, mdTypeDef *out, ULONG max,
                          ULONG *fetched)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    unsigned n = atomic_load(&fake.n_classes);
    uintptr_t at = *state ? (uintptr_t)*state : 1;
    ULONG take = 0;
    HRESULT hr;
    if (fake_fails("Import.EnumTypeDefs", &hr))
        return hr;
    for (; at <= n && take < max; at++) {
        struct fake_class *type = atomic_load(&fake.classes[at]);
        if (type && type->module == module && type->row == type->number && !type->element)
            out[take++] = 0x02000000u | type->row;
    }
    *state = (HCORENUM)at;
    *fetched = take;
    return take ? S_OK : S_FALSE;
}

HRESULT meta_EnumMethods(IMetaDataImport2 *self, HCORENUM *state, mdTypeDef owner,
                         mdMethodDef *out, ULONG max, ULONG *fetched)
{
    struct fake_module *module = ((struct fake_metadata *)self)->module;
    unsigned n = atomic_load(&fake.n_functions);
    uintptr_t at = *state ? (uintptr_t)*state : 1;
    ULONG take = 0;
    HRESULT hr;
    if (fake_fails("Import.EnumMethods", &hr))
        return hr;
    for (; at <= n && take < max; at++) {
        struct fake_function *function = atomic_load(&fake.functions[at]);
        if (function && function->module == module && function->body &&
            function->type->row == (owner & 0xFFFFFF))
            out[take++] = 0x06000000u | function->row;
    }
    *state = (HCORENUM)at;
    *fetched = take;
    return take ? S_OK : S_FALSE;
}
