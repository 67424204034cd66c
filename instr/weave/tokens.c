/* SPDX-License-Identifier: MIT */
#include "instr/weave/tokens.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text/utf8.h"
#include "instr/weave/token_cache.h"

#define CORE         "System.Private.CoreLib"
#define TABLE(token) ((token) >> 24)
enum { TYPE_REF = 0x01, TYPE_DEF = 0x02, TYPE_SPEC = 0x1b };
enum { MODULE_TOKEN = 0x00000001 };

__attribute__((format(printf, 2, 3))) static int fail(struct sxs_tokens *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->error, sizeof(t->error), fmt, args);
    va_end(args);
    return -1;
}

/* ---- life ------------------------------------------------------------------------------------- */

static void read_own_name(struct sxs_tokens *t)
{
    WCHAR      wide[256] = {0};
    mdAssembly own = 0;
    ULONG      n = 0;
    if (SUCCEEDED(t->assemblies->vtbl->GetAssemblyFromScope(t->assemblies, &own)))
        t->assemblies->vtbl->GetAssemblyProps(t->assemblies, own, NULL, NULL, NULL, wide,
                                              ARRAY_LEN(wide), &n, NULL, NULL);
    sxs_utf8_of(wide, ARRAY_LEN(wide), t->own_name, sizeof(t->own_name));
}

HRESULT sxs_tokens_open(struct sxs_tokens *t, sxs_module module)
{
    IUnknown *unknown = NULL;
    void     *assemblies = NULL;
    HRESULT   hr;
    memset(t, 0, sizeof(*t));
    t->module = module;
    hr = sxs_info_GetModuleMetaData(module.rt, module, ofRead, &IID_IMetaDataImport2, &unknown);
    if (FAILED(hr) || !unknown) /* S_FALSE: a module without metadata */
        return FAILED(hr) ? hr : E_FAIL;
    t->import = (IMetaDataImport2 *)(void *)unknown;
    hr = t->import->vtbl->QueryInterface(t->import, &IID_IMetaDataAssemblyImport, &assemblies);
    if (FAILED(hr)) {
        t->import->vtbl->Release(t->import);
        t->import = NULL;
        return hr;
    }
    t->assemblies = assemblies;
    read_own_name(t);
    return S_OK;
}

HRESULT sxs_tokens_close(struct sxs_tokens *t)
{
    HRESULT hr = S_OK;
    if (t->emit && sxs_runtime_has(t->module.rt, SXS_INFO_APPLY_METADATA))
        hr = sxs_info_ApplyMetaData(t->module.rt, t->module);
    if (t->emit_assemblies)
        t->emit_assemblies->vtbl->Release(t->emit_assemblies);
    if (t->emit)
        t->emit->vtbl->Release(t->emit);
    if (t->assemblies)
        t->assemblies->vtbl->Release(t->assemblies);
    if (t->import)
        t->import->vtbl->Release(t->import);
    t->emit_assemblies = NULL;
    t->emit = NULL;
    t->assemblies = NULL;
    t->import = NULL;
    return hr;
}

static int make_writable(struct sxs_tokens *t)
{
    IUnknown *unknown = NULL;
    void     *assemblies = NULL;
    HRESULT   hr;
    if (t->emit)
        return 0;
    hr = sxs_info_GetModuleMetaData(t->module.rt, t->module, ofRead | ofWrite, &IID_IMetaDataEmit2,
                                    &unknown);
    if (FAILED(hr) || !unknown)
        return fail(t, "the module's metadata cannot be written (0x%08x)", (unsigned)hr);
    t->emit = (IMetaDataEmit2 *)(void *)unknown;
    hr = t->emit->vtbl->QueryInterface(t->emit, &IID_IMetaDataAssemblyEmit, &assemblies);
    if (FAILED(hr))
        return fail(t, "the module's metadata takes no assembly references (0x%08x)", (unsigned)hr);
    t->emit_assemblies = assemblies;
    return 0;
}

/* Puts a token into the cache. Other methods may use the token at once, so new metadata is applied
 * to the runtime first. */
static void keep_token(struct sxs_tokens *t, const struct sxs_token_key *key, uint32_t token)
{
    if (!t->emit || SUCCEEDED(sxs_info_ApplyMetaData(t->module.rt, t->module)))
        sxs_token_keep(key, token);
}

/* ---- assemblies ------------------------------------------------------------------------------- */

static uint32_t find_assembly(struct sxs_tokens *t, const char *name)
{
    IMetaDataAssemblyImport *imp = t->assemblies;
    HCORENUM                 all = NULL;
    mdAssemblyRef            ref;
    ULONG                    n = 0;
    uint32_t                 found = 0;
    while (!found && SUCCEEDED(imp->vtbl->EnumAssemblyRefs(imp, &all, &ref, 1, &n)) && n) {
        WCHAR wide[256] = {0};
        char  other[512];
        ULONG len = 0;
        if (FAILED(imp->vtbl->GetAssemblyRefProps(imp, ref, NULL, NULL, wide, ARRAY_LEN(wide), &len,
                                                  NULL, NULL, NULL, NULL)))
            continue;
        sxs_utf8_of(wide, ARRAY_LEN(wide), other, sizeof(other));
        if (sxs_same_text(other, name))
            found = ref;
    }
    imp->vtbl->CloseEnum(imp, all);
    return found;
}

/* Finds or makes a reference to the assembly. A new one has version 0.0.0.0 and no key: every
 * version of the assembly satisfies it. */
static int assembly_ref(struct sxs_tokens *t, const char *name, uint32_t *token)
{
    ASSEMBLYMETADATA any = {0};
    WCHAR            wide[256];
    HRESULT          hr;
    *token = find_assembly(t, name);
    if (*token)
        return 0;
    if (!sxs_utf16_of(name, wide, ARRAY_LEN(wide)))
        return fail(t, "\"%.60s\" is too long for an assembly's name", name);
    if (make_writable(t))
        return -1;
    hr = t->emit_assemblies->vtbl->DefineAssemblyRef(t->emit_assemblies, NULL, 0, wide, &any, NULL,
                                                     0, 0, token);
    return FAILED(hr) ? fail(t, "assembly %.60s cannot be referenced (0x%08x)", name, (unsigned)hr)
                      : 0;
}

/* ---- types ------------------------------------------------------------------------------------ */

static int own_type(struct sxs_tokens *t, const WCHAR *name, uint32_t outer, uint32_t *token)
{
    return FAILED(t->import->vtbl->FindTypeDefByName(t->import, name, outer, token)) ? -1 : 0;
}

static int type_ref(struct sxs_tokens *t, const WCHAR *name, uint32_t scope, uint32_t *token)
{
    if (SUCCEEDED(t->import->vtbl->FindTypeRef(t->import, scope, name, token)))
        return 0;
    if (make_writable(t))
        return -1;
    return FAILED(t->emit->vtbl->DefineTypeRefByName(t->emit, scope, name, token)) ? -1 : 0;
}

/* Within the core library, the names of the facade assemblies mean the core library itself. */
int sxs_tokens_is_own(const struct sxs_tokens *t, const char *assembly)
{
    return !assembly || sxs_same_text(assembly, t->own_name) ||
           (strcmp(t->own_name, CORE) == 0 &&
            (strcmp(assembly, "System.Runtime") == 0 || strcmp(assembly, "mscorlib") == 0 ||
             strcmp(assembly, "netstandard") == 0));
}

static int type_token(void *context, const char *assembly, const char *name, uint32_t *token)
{
    struct sxs_tokens *t = context;
    int                own = sxs_tokens_is_own(t, assembly), err = 0;
    uint32_t           scope = 0;
    const char        *part = name;
    if (!own && assembly_ref(t, assembly, &scope))
        return -1;
    for (size_t n; !err; part += n + 1) {
        char  text[1024];
        WCHAR wide[1024];
        n = strcspn(part, "/+");
        if (n >= sizeof(text))
            return fail(t, "a type's name is too long");
        memcpy(text, part, n);
        text[n] = '\0';
        err = !sxs_utf16_of(text, wide, ARRAY_LEN(wide)) ||
              (own ? own_type(t, wide, scope, token) : type_ref(t, wide, scope, token));
        scope = *token;
        if (!part[n])
            break;
    }
    if (err)
        return fail(t, "there is no type %.100s in %.40s", name, own ? t->own_name : assembly);
    return 0;
}

int sxs_tokens_core_type(struct sxs_tokens *t, const char *name, uint32_t *token)
{
    struct sxs_token_key key = {t->module, SXS_TOKEN_TYPE, name, strlen(name)};
    *token = sxs_token_find(&key);
    if (*token)
        return 0;
    if (type_token(t, CORE, name, token))
        return -1;
    keep_token(t, &key, *token);
    return 0;
}

static int type_spec(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    struct sxs_tokens *t = context;
    if (make_writable(t))
        return -1;
    return FAILED(t->emit->vtbl->GetTokenFromTypeSpec(t->emit, sig, (ULONG)size, token))
               ? fail(t, "a type signature was refused")
               : 0;
}

/* ---- members ---------------------------------------------------------------------------------- */

static int member_token(void *context, uint32_t owner, const char *name, const uint8_t *sig,
                        size_t size, uint32_t *token)
{
    struct sxs_tokens *t = context;
    WCHAR              wide[1024];
    HRESULT            hr;
    if (!sxs_utf16_of(name, wide, ARRAY_LEN(wide)))
        return fail(t, "a member's name is too long");
    if (!owner || TABLE(owner) == TYPE_DEF) {
        hr = t->import->vtbl->FindMember(t->import, owner, wide, sig, (ULONG)size, token);
        return FAILED(hr) ? fail(t, "there is no such member %.100s in %.40s", name, t->own_name)
                          : 0;
    }
    hr = t->import->vtbl->FindMemberRef(t->import, owner, wide, sig, (ULONG)size, token);
    if (SUCCEEDED(hr))
        return 0;
    if (make_writable(t))
        return -1;
    hr = t->emit->vtbl->DefineMemberRef(t->emit, owner, wide, sig, (ULONG)size, token);
    return FAILED(hr) ? fail(t, "member %.80s cannot be referenced (0x%08x)", name, (unsigned)hr)
                      : 0;
}

static int method_spec(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token)
{
    struct sxs_tokens *t = context;
    if (make_writable(t))
        return -1;
    return FAILED(t->emit->vtbl->DefineMethodSpec(t->emit, method, sig, (ULONG)size, token))
               ? fail(t, "an instantiation was refused")
               : 0;
}

static int signature_token(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    struct sxs_tokens   *t = context;
    struct sxs_token_key key = {t->module, SXS_TOKEN_SIGNATURE, sig, size};
    *token = sxs_token_find(&key);
    if (*token)
        return 0;
    if (make_writable(t))
        return -1;
    if (FAILED(t->emit->vtbl->GetTokenFromSig(t->emit, sig, (ULONG)size, token)))
        return fail(t, "a signature was refused");
    keep_token(t, &key, *token);
    return 0;
}

static int string_token(void *context, const uint16_t *units, size_t n, uint32_t *token)
{
    struct sxs_tokens *t = context;
    if (make_writable(t))
        return -1;
    return FAILED(t->emit->vtbl->DefineUserString(t->emit, units, (ULONG)n, token))
               ? fail(t, "a string was refused")
               : 0;
}

struct sxs_il_tokens sxs_tokens_table(struct sxs_tokens *t)
{
    return (struct sxs_il_tokens){
        type_token, type_spec, member_token, method_spec, signature_token, string_token, t, NULL};
}
