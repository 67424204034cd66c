/* SPDX-License-Identifier: MIT */
/**
 * clrie_fixture.h - a small runtime for tests of the model: one AppDomain, assemblies with one module
 * each, metadata. Include cmocka.h first.
 *
 * IDs: AppDomain 0x10; assembly 0x20 + i; module 0x30 + i; function 0x1000 + row of module 0.
 */
#ifndef SXS_TEST_CLRIE_FIXTURE_H
#define SXS_TEST_CLRIE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "clrie/model/model_internal.h"
#include "clrie/object/strings.h"

enum { DOMAIN = 0x10, ASSEMBLY = 0x20, MODULE = 0x30, FUNCTION = 0x1000, CLASS = 0x77 };
enum { MODULES = 4, PLAIN = 0, DYNAMIC = 1, RESOURCE = 2, FLAT = 3 };

static struct {
    int            info_calls, import_refs, emit_refs; /* references that are held */
    int            emit_opened;
    int            domain_fails;
    const WCHAR   *domain_name;
    const WCHAR   *paths[MODULES];
    LPCBYTE        bases[MODULES];
    DWORD          flags[MODULES];
    const uint8_t *body; /* of every method; what GetILFunctionBody() returns */
    ULONG          body_size;
    uint8_t        sigs[8][64];                      /* tokens 0x11000001 and on */
    ULONG          sig_sizes[8], n_sigs, n_old_sigs; /* n_old_sigs: those that `import` knows */
    ModuleID       rejit_module;
    mdMethodDef    rejit_method;
} run;

/* ---- metadata --------------------------------------------------------------------------------- */

struct method_row {
    const WCHAR  *name;
    mdTypeDef     owner;
    DWORD         attributes;
    const uint8_t sig[12];
    ULONG         sig_size;
    ULONG         n_generics;
};
#define SIG(...) {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})
static const struct method_row methods[] = {
    {u"Main", 0x02000002, mdStatic | mdAssem, SIG(0x00, 1, 0x01, 0x1d, 0x0e), 0},
    {u"Gen", 0x02000004, mdPublic, SIG(0x30, 1, 2, 0x1e, 0, 0x13, 0, 0x08), 1},
    {u"get_Prop", 0x02000005, mdPublic, SIG(0x20, 0, 0x08), 0},
    {u"set_Prop", 0x02000005, mdPrivate, SIG(0x20, 1, 0x01, 0x08), 0},
    {u".ctor", 0x02000002, mdFamily, SIG(0x20, 0, 0x01), 0},
    {u".cctor", 0x02000002, mdStatic | mdPrivate, SIG(0x00, 0, 0x01), 0},
    {u"Finalize", 0x02000002, mdFamily | mdVirtual, SIG(0x20, 0, 0x01), 0},
    {u"Odd", 0x02000002, mdPublic, SIG(0x00, 1, 0x01, 0x3f), 0}, /* 0x3f: no element */
};
enum { MAIN = 1, GEN, GETTER, SETTER, CTOR, CCTOR, FINALIZE, ODD, N_METHODS = ODD };
#define METHOD(row) (0x06000000u | (row))

struct type_row {
    const WCHAR *name;
    mdTypeDef    enclosing;
    DWORD        flags;
    mdToken      base;
};
static const struct type_row types[] = {
    {u"<Module>", 0, 0, 0},
    {u"N.P", 0, tdPublic, 0x01000001},
    {u"N.Outer`1", 0, tdPublic, 0x01000001},
    {u"Inner", 0x02000003, tdNestedPublic, 0x01000001},
    {u"N.Value", 0, tdPublic | tdSealed, 0x01000002},
};
static const WCHAR *const refs[] = {u"System.Object", u"System.ValueType"};

static HRESULT wide_out(const WCHAR *text, LPWSTR out, ULONG room, ULONG *n)
{
    ULONG size = (ULONG)clrie_string_length(text) + 1;
    if (n)
        *n = size;
    if (out && room)
        memcpy(out, text, (size < room ? size : room) * sizeof(*out));
    return S_OK;
}

static ULONG import_AddRef(IMetaDataImport2 *self)
{
    (void)self;
    return (ULONG)++run.import_refs;
}

static ULONG import_Release(IMetaDataImport2 *self)
{
    (void)self;
    return (ULONG)--run.import_refs;
}

static HRESULT import_GetScopeProps(IMetaDataImport2 *self, LPWSTR name, ULONG room, ULONG *n,
                                    GUID *mvid)
{
    (void)self, (void)name, (void)room, (void)n;
    *mvid = (GUID){.Data1 = 0xabcd};
    return S_OK;
}

static HRESULT import_GetMethodProps(IMetaDataImport2 *self, mdMethodDef token, mdTypeDef *owner,
                                     LPWSTR name, ULONG room, ULONG *n, DWORD *attributes,
                                     PCCOR_SIGNATURE *sig, ULONG *size, ULONG *rva, DWORD *impl)
{
    const struct method_row *row;
    (void)self;
    if (token >> 24 != 6 || !(token & 0xffffff) || (token & 0xffffff) > N_METHODS)
        return CLDB_E_INDEX_NOTFOUND;
    row = &methods[(token & 0xffffff) - 1];
    if (owner)
        *owner = row->owner;
    if (attributes)
        *attributes = row->attributes;
    if (sig)
        *sig = row->sig;
    if (size)
        *size = row->sig_size;
    if (rva)
        *rva = 0x2050;
    if (impl)
        *impl = 8;
    return wide_out(row->name, name, room, n);
}

static HRESULT import_GetMemberRefProps(IMetaDataImport2 *self, mdMemberRef token, mdToken *owner,
                                        LPWSTR name, ULONG room, ULONG *n, PCCOR_SIGNATURE *sig,
                                        ULONG *size)
{
    (void)self;
    if (token != 0x0a000001)
        return CLDB_E_INDEX_NOTFOUND;
    if (owner)
        *owner = 0x01000001;
    if (sig)
        *sig = methods[GETTER - 1].sig;
    if (size)
        *size = methods[GETTER - 1].sig_size;
    return wide_out(u"Ref", name, room, n);
}

static HRESULT import_GetMethodSpecProps(IMetaDataImport2 *self, mdMethodSpec token,
                                         mdToken *parent, PCCOR_SIGNATURE *sig, ULONG *size)
{
    static const uint8_t arguments[] = {0x0a, 2, 0x08, 0x0e};
    (void)self;
    if (token != 0x2b000001)
        return CLDB_E_INDEX_NOTFOUND;
    if (parent)
        *parent = METHOD(GEN);
    if (sig)
        *sig = arguments;
    if (size)
        *size = sizeof(arguments);
    return S_OK;
}

static HRESULT import_GetTypeDefProps(IMetaDataImport2 *self, mdTypeDef token, LPWSTR name,
                                      ULONG room, ULONG *n, DWORD *flags, mdToken *base)
{
    const struct type_row *row;
    (void)self;
    if (token >> 24 != 2 || !(token & 0xffffff) || (token & 0xffffff) > ARRAY_LEN(types))
        return CLDB_E_INDEX_NOTFOUND;
    row = &types[(token & 0xffffff) - 1];
    if (flags)
        *flags = row->flags;
    if (base)
        *base = row->base;
    return wide_out(row->name, name, room, n);
}

static HRESULT import_GetNestedClassProps(IMetaDataImport2 *self, mdTypeDef token, mdTypeDef *outer)
{
    (void)self;
    *outer = types[(token & 0xffffff) - 1].enclosing;
    return *outer ? S_OK : CLDB_E_RECORD_NOTFOUND;
}

static HRESULT import_GetTypeRefProps(IMetaDataImport2 *self, mdTypeRef token, mdToken *scope,
                                      LPWSTR name, ULONG room, ULONG *n)
{
    (void)self;
    if (!(token & 0xffffff) || (token & 0xffffff) > ARRAY_LEN(refs))
        return CLDB_E_INDEX_NOTFOUND;
    if (scope)
        *scope = 0;
    return wide_out(refs[(token & 0xffffff) - 1], name, room, n);
}

static HRESULT import_EnumGenericParams(IMetaDataImport2 *self, HCORENUM *list, mdToken token,
                                        mdGenericParam *out, ULONG room, ULONG *n)
{
    (void)self, (void)room;
    *n = *list || token >> 24 != 6 ? 0 : methods[(token & 0xffffff) - 1].n_generics;
    *list = (HCORENUM)1;
    for (ULONG i = 0; i < *n; i++)
        out[i] = 0x2a000001;
    return *n ? S_OK : S_FALSE;
}

static void import_CloseEnum(IMetaDataImport2 *self, HCORENUM list)
{
    (void)self, (void)list;
}

static HRESULT sig_out(ULONG known, mdSignature token, PCCOR_SIGNATURE *sig, ULONG *size)
{
    ULONG row = token & 0xffffff;
    if (token >> 24 != 0x11 || !row || row > known)
        return CLDB_E_INDEX_NOTFOUND;
    *sig = run.sigs[row - 1];
    *size = run.sig_sizes[row - 1];
    return S_OK;
}

static HRESULT import_GetSigFromToken(IMetaDataImport2 *self, mdSignature token,
                                      PCCOR_SIGNATURE *sig, ULONG *size)
{
    (void)self;
    return sig_out(run.n_old_sigs, token, sig, size);
}

static HRESULT live_GetSigFromToken(IMetaDataImport2 *self, mdSignature token, PCCOR_SIGNATURE *sig,
                                    ULONG *size)
{
    (void)self;
    return sig_out(run.n_sigs, token, sig, size);
}

#define IMPORT_SLOTS                                                                              \
    .AddRef = import_AddRef, .Release = import_Release, .GetScopeProps = import_GetScopeProps,    \
    .GetMethodProps = import_GetMethodProps, .GetMemberRefProps = import_GetMemberRefProps,       \
    .GetMethodSpecProps = import_GetMethodSpecProps, .GetTypeDefProps = import_GetTypeDefProps,   \
    .GetNestedClassProps = import_GetNestedClassProps, .GetTypeRefProps = import_GetTypeRefProps, \
    .EnumGenericParams = import_EnumGenericParams, .CloseEnum = import_CloseEnum
static const IMetaDataImport2Vtbl import_vtbl = {IMPORT_SLOTS,
                                                 .GetSigFromToken = import_GetSigFromToken};
static const IMetaDataImport2Vtbl live_vtbl = {IMPORT_SLOTS,
                                               .GetSigFromToken = live_GetSigFromToken};
static IMetaDataImport2           import = {&import_vtbl}, live_import = {&live_vtbl};

static HRESULT assemblies_GetAssemblyFromScope(IMetaDataAssemblyImport *self, mdAssembly *out)
{
    (void)self;
    *out = 0x20000001;
    return S_OK;
}

static HRESULT assemblies_GetAssemblyProps(IMetaDataAssemblyImport *self, mdAssembly token,
                                           const void **key, ULONG *size, ULONG *hash, LPWSTR name,
                                           ULONG room, ULONG *n, ASSEMBLYMETADATA *data,
                                           DWORD *flags)
{
    (void)self, (void)token, (void)hash, (void)name, (void)room, (void)n, (void)data, (void)flags;
    *key = "KEYBYTES";
    *size = 8;
    return S_OK;
}

static const IMetaDataAssemblyImportVtbl assemblies_vtbl = {
    .AddRef = (ULONG(*)(IMetaDataAssemblyImport *))(void *)import_AddRef,
    .Release = (ULONG(*)(IMetaDataAssemblyImport *))(void *)import_Release,
    .GetAssemblyFromScope = assemblies_GetAssemblyFromScope,
    .GetAssemblyProps = assemblies_GetAssemblyProps};
static IMetaDataAssemblyImport assemblies = {&assemblies_vtbl};

static ULONG emit_AddRef(IMetaDataEmit2 *self)
{
    (void)self;
    return (ULONG)++run.emit_refs;
}

static ULONG emit_Release(IMetaDataEmit2 *self)
{
    (void)self;
    return (ULONG)--run.emit_refs;
}

static HRESULT emit_GetTokenFromSig(IMetaDataEmit2 *self, PCCOR_SIGNATURE sig, ULONG size,
                                    mdSignature *out)
{
    (void)self;
    assert_true(run.n_sigs < ARRAY_LEN(run.sigs) && size <= sizeof(run.sigs[0]));
    memcpy(run.sigs[run.n_sigs], sig, size);
    run.sig_sizes[run.n_sigs] = size;
    *out = 0x11000000 | ++run.n_sigs;
    return S_OK;
}

static const IMetaDataEmit2Vtbl emit_vtbl = {
    .AddRef = emit_AddRef, .Release = emit_Release, .GetTokenFromSig = emit_GetTokenFromSig};
static IMetaDataEmit2 emit = {&emit_vtbl};

/* ---- ICorProfilerInfo ------------------------------------------------------------------------- */

static int number_of(ModuleID id)
{
    return id >= MODULE && id < MODULE + MODULES && run.paths[id - MODULE] ? (int)(id - MODULE)
                                                                           : -1;
}

static HRESULT info_GetModuleInfo2(ICorProfilerInfo10 *self, ModuleID id, LPCBYTE *base, ULONG room,
                                   ULONG *n, WCHAR *name, AssemblyID *assembly, DWORD *flags)
{
    int i = number_of(id);
    (void)self;
    if (i < 0)
        return E_INVALIDARG;
    if (base)
        *base = run.bases[i];
    if (assembly)
        *assembly = ASSEMBLY + (AssemblyID)i;
    if (flags)
        *flags = run.flags[i];
    return wide_out(run.paths[i], name, room, n);
}

static HRESULT info_GetModuleMetaData(ICorProfilerInfo10 *self, ModuleID id, DWORD flags,
                                      REFIID iid, IUnknown **out)
{
    int is_import = memcmp(iid, &IID_IMetaDataImport2, sizeof(*iid)) == 0;
    (void)self;
    if (number_of(id) < 0)
        return E_INVALIDARG;
    if (number_of(id) == RESOURCE)
        return S_FALSE;
    if (memcmp(iid, &IID_IMetaDataAssemblyImport, sizeof(*iid)) == 0)
        *out = (IUnknown *)(void *)&assemblies;
    else if (is_import)
        *out = (IUnknown *)(void *)(flags & ofWrite ? &live_import : &import);
    else
        *out = (IUnknown *)(void *)&emit;
    run.emit_opened += (flags & ofWrite) != 0;
    (*out)->vtbl->AddRef(*out);
    return S_OK;
}

static HRESULT info_GetAssemblyInfo(ICorProfilerInfo10 *self, AssemblyID id, ULONG room, ULONG *n,
                                    WCHAR *name, AppDomainID *domain, ModuleID *module)
{
    int i = number_of(id - ASSEMBLY + MODULE);
    (void)self;
    if (i < 0)
        return E_INVALIDARG;
    if (domain)
        *domain = DOMAIN;
    if (module)
        *module = MODULE + (ModuleID)i;
    return wide_out(u"Assembly", name, room, n);
}

static HRESULT info_GetAppDomainInfo(ICorProfilerInfo10 *self, AppDomainID id, ULONG room, ULONG *n,
                                     WCHAR *name, ProcessID *process)
{
    (void)self, (void)id;
    if (run.domain_fails)
        return E_FAIL;
    *process = 1;
    return wide_out(run.domain_name, name, room, n);
}

static HRESULT info_GetFunctionInfo(ICorProfilerInfo10 *self, FunctionID id, ClassID *class_id,
                                    ModuleID *module, mdToken *token)
{
    (void)self;
    run.info_calls++;
    if (id < FUNCTION || id > FUNCTION + N_METHODS)
        return E_INVALIDARG;
    *class_id = id == FUNCTION + GEN ? 0 : CLASS;
    *module = id == FUNCTION ? 0x999 : MODULE;
    *token = METHOD((mdToken)(id - FUNCTION));
    return S_OK;
}

static HRESULT info_GetFunctionInfo2(ICorProfilerInfo10 *self, FunctionID id,
                                     COR_PRF_FRAME_INFO frame, ClassID *class_id, ModuleID *module,
                                     mdToken *token, ULONG32 room, ULONG32 *n, ClassID *arguments)
{
    (void)self, (void)frame, (void)class_id, (void)module, (void)token, (void)room, (void)arguments;
    *n = id == FUNCTION + GEN ? 2 : 0; /* not what metadata says, so that a test can tell */
    return S_OK;
}

static HRESULT info_GetILFunctionBody(ICorProfilerInfo10 *self, ModuleID module, mdMethodDef token,
                                      LPCBYTE *bytes, ULONG *size)
{
    (void)self, (void)module;
    if ((token & 0xffffff) > N_METHODS || !run.body)
        return CORPROF_E_FUNCTION_NOT_IL;
    *bytes = run.body;
    *size = run.body_size;
    return S_OK;
}

static HRESULT info_GetNativeCodeStartAddresses(ICorProfilerInfo10 *self, FunctionID id,
                                                ReJITID rejit, ULONG32 room, ULONG32 *n,
                                                UINT_PTR *out)
{
    (void)self, (void)id, (void)rejit;
    for (ULONG32 i = 0; out && i < room && i < 3; i++)
        out[i] = 0x5000 + i;
    *n = 3;
    return S_OK;
}

static HRESULT info_GetILToNativeMapping3(ICorProfilerInfo10 *self, UINT_PTR code, ULONG32 room,
                                          ULONG32 *n, COR_DEBUG_IL_TO_NATIVE_MAP *map)
{
    (void)self, (void)room, (void)map;
    *n = code == 0x5002 ? 7 : 0;
    return S_OK;
}

static HRESULT info_GetILToNativeMapping2(ICorProfilerInfo10 *self, FunctionID id, ReJITID rejit,
                                          ULONG32 room, ULONG32 *n, COR_DEBUG_IL_TO_NATIVE_MAP *map)
{
    (void)self, (void)id, (void)rejit, (void)room, (void)map;
    *n = 5;
    return S_OK;
}

static const ICorProfilerInfo10Vtbl info_vtbl = {
    .GetModuleInfo2 = info_GetModuleInfo2,
    .GetModuleMetaData = info_GetModuleMetaData,
    .GetAssemblyInfo = info_GetAssemblyInfo,
    .GetAppDomainInfo = info_GetAppDomainInfo,
    .GetFunctionInfo = info_GetFunctionInfo,
    .GetFunctionInfo2 = info_GetFunctionInfo2,
    .GetILFunctionBody = info_GetILFunctionBody,
    .GetNativeCodeStartAddresses = info_GetNativeCodeStartAddresses,
    .GetILToNativeMapping3 = info_GetILToNativeMapping3,
    .GetILToNativeMapping2 = info_GetILToNativeMapping2};
static ICorProfilerInfo10 info = {&info_vtbl};

static HRESULT host_request_rejit(struct clrie_model_host *host, ModuleID module,
                                  mdMethodDef method)
{
    (void)host;
    run.rejit_module = module;
    run.rejit_method = method;
    return S_OK;
}

static struct clrie_model_host host = {&info, 10, host_request_rejit};

/* ---- images ----------------------------------------------------------------------------------- */

/* A PE file with one section: address 0x1000, at 0x400 of the file, with the CLI header at its
 * begin. @flat: as in the file; else as the loader lays it out. */
static uint8_t *make_image(int is_flat, int is_64bit, uint32_t cli_flags, uint32_t entry)
{
    uint8_t           *image = calloc(1, 0x2000);
    uint32_t           optional = 0x98, directories = optional + (is_64bit ? 112 : 96);
    uint32_t           sections = directories + 16 * 8;
    uint16_t           magic = is_64bit ? 0x20b : 0x10b;
    IMAGE_COR20_HEADER cli = {.cb = 72};
    cli.Flags = cli_flags;
    cli.EntryPointToken = entry;
    memcpy(image, (const char[]){'M', 'Z'}, 2);
#define PUT(at, type, value) memcpy(image + (at), &(type){value}, sizeof(type))
    PUT(0x3c, uint32_t, 0x80);
    memcpy(image + 0x80, (const char[]){'P', 'E', 0, 0}, 4);
    PUT(0x86, uint16_t, 1);
    PUT(0x94, uint16_t, (uint16_t)(sections - optional));
    PUT(optional, uint16_t, magic);
    PUT(directories - 4, uint32_t, 16);
    PUT(directories + 14 * 8, uint32_t, 0x1000);
    PUT(directories + 14 * 8 + 4, uint32_t, 72);
    PUT(sections + 8, uint32_t, 0x200);
    PUT(sections + 12, uint32_t, 0x1000);
    PUT(sections + 16, uint32_t, 0x200);
    PUT(sections + 20, uint32_t, 0x400);
    memcpy(image + (is_flat ? 0x400 : 0x1000), &cli, sizeof(cli));
    return image;
}

/* ---- set-up ----------------------------------------------------------------------------------- */

static uint8_t *images[2];

static int runtime_begin(void **state)
{
    static const uint8_t tiny[] = {1 << 2 | 2, 0x2a}; /* ret */
    (void)state;
    memset(&run, 0, sizeof(run));
    run.domain_name = u"DefaultDomain";
    run.paths[PLAIN] = u"/app/plain.dll";
    run.paths[DYNAMIC] = u"RefEmit_InMemoryManifestModule";
    run.paths[RESOURCE] = u"/app/resource.dll";
    run.paths[FLAT] = u"/app/mscorlib.dll";
    run.bases[PLAIN] = images[0] = make_image(0, 1, COMIMAGE_FLAGS_ILONLY, 0x06000001);
    run.bases[FLAT] = images[1] = make_image(1, 0, 0, 0);
    run.flags[PLAIN] = COR_PRF_MODULE_DISK | COR_PRF_MODULE_NGEN;
    run.flags[RESOURCE] = COR_PRF_MODULE_RESOURCE;
    run.flags[DYNAMIC] = COR_PRF_MODULE_DYNAMIC;
    run.flags[FLAT] = COR_PRF_MODULE_FLAT_LAYOUT | COR_PRF_MODULE_WINDOWS_RUNTIME;
    run.body = tiny;
    run.body_size = sizeof(tiny);
    *state = clrie_model_new(&host);
    return *state ? 0 : -1;
}

/* Frees the model. All objects that refer to it, and all references of metadata, must be gone then. */
static int runtime_end(void **state)
{
    struct clrie_model *model = clrie_model_ref(*state);
    unsigned            left;
    clrie_model_free(model);
    left = atomic_load(&model->refs);
    clrie_model_unref(model);
    free(images[0]);
    free(images[1]);
    if (left != 1 || run.import_refs || run.emit_refs)
        print_message("objects left: %u, references of metadata: %d, %d\n", left - 1,
                      run.import_refs, run.emit_refs);
    return left != 1 || run.import_refs || run.emit_refs;
}

#endif
