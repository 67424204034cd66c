/* SPDX-License-Identifier: MIT */
/* Makes the names of managed code from a runtime's metadata. */
#include <stdlib.h>
#include <string.h>

#include "manager/module_info.h"
#include "symbols/name_internal.h"
#include "symbols/signature_internal.h"
#include "symbols/type_name.h"

#define NAME_MAX_UTF16 1024 /* longest name in metadata */
#define ARGS_MAX 64
#define NESTED_MAX     16 /* types as type arguments of types */

#define TOKEN_TABLE(token) ((token) & 0xFF000000u)
enum { TABLE_TYPEREF = 0x01000000, TABLE_TYPEDEF = 0x02000000, TABLE_TYPESPEC = 0x1B000000 };

struct sxs_scope {
    sxs_module        module;
    IMetaDataImport2 *imp; /* one reference; NULL: the runtime refused */
};

/** The context in which a signature is read. */
struct naming {
    struct sxs_name_scopes *names;
    struct sxs_runtime *rt;
    IMetaDataImport2   *imp; /* borrowed from names; may be NULL */
    mdToken             type, method;
    const ClassID      *type_args, *method_args;
    uint32_t            n_type_args, n_method_args;
    unsigned            depth;
    enum sxs_frame_account account;
};

static void put_class(const struct naming *from, struct sxs_text *out, ClassID id, int bare);

/**
 * Returns the module's metadata, which is opened once. NULL: the runtime refused, or memory ran
 * out. */
static IMetaDataImport2 *scope_of(struct sxs_name_scopes *names, sxs_module module)
{
    for (size_t i = 0; i < names->len; i++)
        if (names->scopes[i].module.rt == module.rt && names->scopes[i].module.id == module.id)
            return names->scopes[i].imp;
    if (names->len == names->cap) {
        size_t            cap = names->cap ? names->cap * 2 : 16;
        struct sxs_scope *scopes = reallocarray(names->scopes, cap, sizeof(*scopes));
        if (!scopes)
            return NULL;
        names->scopes = scopes;
        names->cap = cap;
    }
    IMetaDataImport2 *imp = sxs_module_import(module);
    names->scopes[names->len++] = (struct sxs_scope){module, imp};
    return imp;
}

void sxs_names_free(struct sxs_name_scopes *names)
{
    for (size_t i = 0; i < names->len; i++)
        if (names->scopes[i].imp)
            names->scopes[i].imp->vtbl->Release(names->scopes[i].imp);
    free(names->scopes);
    memset(names, 0, sizeof(*names));
}

/**
 * Appends the name of a type parameter of @owner, a typedef or methoddef. Returns 0 if there is
 * no such parameter. */
static int put_parameter_name(IMetaDataImport2 *imp, struct sxs_text *out, mdToken owner,
                              uint32_t index)
{
    HCORENUM       all = NULL;
    mdGenericParam params[ARGS_MAX];
    ULONG          n = 0;
    int            done = 0;

    if (!imp || !owner ||
        FAILED(imp->vtbl->EnumGenericParams(imp, &all, owner, params, ARGS_MAX, &n)))
        return 0;
    for (ULONG i = 0; i < n && !done; i++) {
        WCHAR name[NAME_MAX_UTF16] = { 0 };
        ULONG seq = 0, len = 0;
        DWORD flags = 0;
        if (SUCCEEDED(imp->vtbl->GetGenericParamProps(imp, params[i], &seq, &flags, NULL, NULL,
                                                      name, NAME_MAX_UTF16, &len)) &&
            seq == index && name[0]) {
            sxs_text_put_utf16(out, name, NAME_MAX_UTF16);
            done = 1;
        }
    }
    imp->vtbl->CloseEnum(imp, all);
    return done;
}

/** Appends the type arguments [first, first + arity), which belong to one nesting level. */
static void put_level_args(const struct naming *in, struct sxs_text *out, uint32_t first,
                           uint32_t arity, int bare)
{
    if (!arity || bare)
        return;
    sxs_text_put(out, "<");
    for (uint32_t i = first; i < first + arity; i++) {
        if (i > first)
            sxs_text_put(out, ", ");
        if (i < in->n_type_args)
            put_class(in, out, in->type_args[i], 0);
        else if (!put_parameter_name(in->imp, out, in->type, i))
            sxs_text_putf(out, "!%u", i);
    }
    sxs_text_put(out, ">");
}

/* The state while put_typedef() writes nested types. */
struct levels {
    const struct naming *in;
    uint32_t             used; /* type arguments that enclosing types took */
    int                  bare;
};

/* The number in a type's name counts only its own parameters; those of enclosing types come
 * before. */
static void after_level(void *context, struct sxs_text *out, uint32_t arity)
{
    struct levels *levels = context;
    put_level_args(levels->in, out, levels->used, arity, levels->bare);
    levels->used += arity;
}

/**
 * Appends Outer+Inner for in->type, which is the innermost type; each type with its share of
 * in->type_args unless @bare. */
static void put_typedef(const struct naming *in, struct sxs_text *out, int bare)
{
    struct levels               levels = {.in = in, .bare = bare};
    const struct sxs_type_style style = {
        .without_arity = 1, .numbers = 1, .after = after_level, .context = &levels};
    struct sxs_type_source from = sxs_types_to_show(in->imp);
    sxs_type_put(out, &from, &style, in->type);
}

static void put_typeref(const struct naming *in, struct sxs_text *out, mdToken type)
{
    static const struct sxs_type_style style = {.without_arity = 1, .numbers = 1};
    struct sxs_type_source             from = sxs_types_to_show(in->imp);
    sxs_type_put(out, &from, &style, type);
}

static const struct sxs_type_names type_names;

static void put_typespec(const struct naming *in, struct sxs_text *out, mdToken type)
{
    PCCOR_SIGNATURE sig = NULL;
    ULONG           size = 0;
    struct naming   deeper = *in;

    if (++deeper.depth > NESTED_MAX || !in->imp ||
        FAILED(in->imp->vtbl->GetTypeSpecFromToken(in->imp, type, &sig, &size)))
        sxs_text_putf(out, "[type 0x%08x]", type);
    else
        sxs_signature_type(out, sig, size, &type_names, &deeper);
}

static void on_token(void *ctx, struct sxs_text *out, mdToken type)
{
    const struct naming *in = ctx;
    struct naming        of_type = *in;

    switch (TOKEN_TABLE(type)) {
    case TABLE_TYPEDEF:
        of_type.type = type;
        put_typedef(&of_type, out, 1);
        break;
    case TABLE_TYPEREF: put_typeref(in, out, type); break;
    case TABLE_TYPESPEC:
        put_typespec(in, out, type);
        break;
    default:
        sxs_text_putf(out, "[type 0x%08x]", type);
    }
}

static void on_class_id(void *ctx, struct sxs_text *out, ClassID type, int bare)
{
    put_class(ctx, out, type, bare);
}

static void on_variable(void *ctx, struct sxs_text *out, uint32_t index, int of_method)
{
    const struct naming *in = ctx;
    const ClassID       *args = of_method ? in->method_args : in->type_args;

    if (index < (of_method ? in->n_method_args : in->n_type_args))
        put_class(in, out, args[index], 0);
    else if (!put_parameter_name(in->imp, out, of_method ? in->method : in->type, index))
        sxs_text_putf(out, of_method ? "!!%u" : "!%u", index);
}

static const struct sxs_type_names type_names = {
    .token = on_token,
    .class_id = on_class_id,
    .variable = on_variable,
};

static int put_array_class(const struct naming *in, struct sxs_text *out, sxs_class cls)
{
    CorElementType element = ELEMENT_TYPE_END;
    sxs_class      base = { NULL, 0 };
    ULONG          rank = 0;

    if (sxs_info_IsArrayClass(in->rt, cls, &element, &base, &rank) != S_OK)
        return 0;
    const char *word = sxs_signature_primitive((uint32_t)element);
    if (base.id)
        put_class(in, out, base.id, 0);
    else
        sxs_text_put(out, word ? word : "?");
    sxs_text_put(out, "[");
    for (ULONG i = 1; i < rank && i < ARGS_MAX; i++)
        sxs_text_put(out, ",");
    sxs_text_put(out, "]");
    return 1;
}

/**
 * Appends the name of a loaded type with its type arguments. @from provides the runtime and the
 * open scopes. */
static void put_class(const struct naming *from, struct sxs_text *out, ClassID id, int bare)
{
    struct naming in = { .names = from->names, .rt = from->rt, .depth = from->depth + 1 };
    sxs_class     cls = { from->rt, id };
    sxs_module    module = { NULL, 0 };
    ClassID       args[ARGS_MAX] = { 0 };
    ULONG32       n_args = 0;

    if (in.depth > NESTED_MAX || !id) {
        sxs_text_put(out, "?");
        return;
    }
    if (put_array_class(&in, out, cls))
        return;
    HRESULT hr = sxs_info_GetClassIDInfo2(in.rt, cls, &module, &in.type, NULL, ARGS_MAX, &n_args,
                                          args);
    if (FAILED(hr) || !in.type) { /* pointers, by-refs and the like have no metadata name */
        sxs_text_putf(out, "[type %s]", sxs_hresult_name(hr));
        return;
    }
    in.imp = scope_of(in.names, module);
    in.type_args = args;
    in.n_type_args = n_args < ARGS_MAX ? n_args : ARGS_MAX;
    put_typedef(&in, out, bare);
}

void sxs_name_class(struct sxs_name_scopes *names, struct sxs_text *out, sxs_class cls)
{
    struct naming from = { .names = names, .rt = cls.rt };
    put_class(&from, out, cls.id, 0);
}

static void put_method_args(const struct naming *in, struct sxs_text *out)
{
    for (uint32_t i = 0; i < in->n_method_args; i++) {
        sxs_text_put(out, i ? ", " : "<");
        put_class(in, out, in->method_args[i], 0);
    }
    sxs_text_put(out, in->n_method_args ? ">" : "");
}

static void put_method(struct naming *in, struct sxs_text *out)
{
    WCHAR           name[NAME_MAX_UTF16] = { 0 };
    ULONG           len = 0, size = 0, rva = 0;
    DWORD           attr = 0, impl = 0;
    PCCOR_SIGNATURE sig = NULL;
    HRESULT hr = in->imp->vtbl->GetMethodProps(in->imp, in->method, &in->type, name, NAME_MAX_UTF16,
                                               &len, &attr, &sig, &size, &rva, &impl);
    if (FAILED(hr)) {
        sxs_text_putf(out, "[method 0x%08x: %s]", in->method, sxs_hresult_name(hr));
        return;
    }
    if (in->account != SXS_FRAME_REPORTED)
        sxs_text_put(out, in->account == SXS_FRAME_FUNCLET ? "[funclet] " : "[unreported] ");
    put_typedef(in, out, 0);
    sxs_text_put(out, ".");
    sxs_text_put_utf16(out, name, NAME_MAX_UTF16);
    put_method_args(in, out);
    sxs_signature_params(out, sig, size, &type_names, in);
}

static int is_il_stub(const WCHAR *name)
{
    static const char prefix[] = "IL_STUB";
    for (size_t i = 0; prefix[i]; i++)
        if (name[i] != (WCHAR)prefix[i])
            return 0;
    return 1;
}

static int put_dynamic(struct naming *in, struct sxs_text *out, sxs_function fn)
{
    WCHAR           name[NAME_MAX_UTF16] = { 0 };
    ULONG           len = 0, size = 0;
    BOOL            dynamic = 0;
    sxs_module      module = { NULL, 0 };
    PCCOR_SIGNATURE sig = NULL;

    if (FAILED(sxs_info_IsFunctionDynamic(fn.rt, fn, &dynamic)) || !dynamic)
        return 0;
    if (FAILED(sxs_info_GetDynamicFunctionInfo(fn.rt, fn, &module, &sig, &size, NAME_MAX_UTF16,
                                               &len, name)))
        name[0] = 0;
    in->imp = module.id ? scope_of(in->names, module) : NULL;
    sxs_text_put(out, is_il_stub(name) ? "[stub] " : "[dynamic] ");
    if (name[0])
        sxs_text_put_utf16(out, name, NAME_MAX_UTF16);
    else
        sxs_text_putf(out, "function 0x%zx", (size_t)fn.id);
    if (sig)
        sxs_signature_params(out, sig, size, &type_names, in);
    return 1;
}

void sxs_name_managed(struct sxs_name_scopes *names, struct sxs_text *out,
                      const struct sxs_frame *frame)
{
    struct naming in = { .names = names, .rt = frame->fn.rt, .account = frame->account };
    sxs_class     cls = frame->cls;
    sxs_module    module = frame->module, of_class = { NULL, 0 };
    ClassID       type_args[ARGS_MAX] = { 0 }, method_args[ARGS_MAX] = { 0 };
    HRESULT       hr = frame->info_hr;

    if (hr == S_OK && (frame->token & 0xFFFFFFu) && frame->n_type_args < SXS_WALK_TYPE_ARGS) {
        in.method = frame->token;
        in.n_method_args = frame->n_type_args;
        memcpy(method_args, frame->type_args, frame->n_type_args * sizeof(method_args[0]));
    } else {
        if (put_dynamic(&in, out, frame->fn))
            return;
        hr = sxs_info_GetFunctionInfo2(in.rt, frame->fn, 0, &cls, &module, &in.method, ARGS_MAX,
                                       &in.n_method_args, method_args);
    }
    if (SUCCEEDED(hr))
        in.imp = scope_of(names, module);
    if (!in.imp) {
        sxs_text_putf(out, "[function 0x%zx: %s]", (size_t)frame->fn.id,
                      FAILED(hr) ? sxs_hresult_name(hr) : "no metadata");
        return;
    }
    if (cls.id && FAILED(sxs_info_GetClassIDInfo2(in.rt, cls, &of_class, NULL, NULL, ARGS_MAX,
                                                  &in.n_type_args, type_args)))
        in.n_type_args = 0;
    in.type_args = type_args;
    in.method_args = method_args;
    put_method(&in, out);
}

int sxs_name_find_dynamic(struct sxs_runtime *const *rts, size_t n_rts, struct sxs_frame *frame)
{
    uintptr_t ip = frame->at.rip - (frame->exact_ip ? 0 : 1);

    for (size_t i = 0; i < n_rts; i++) {
        sxs_function fn = { NULL, 0 };
        if (SUCCEEDED(sxs_info_GetFunctionFromIP3(rts[i], (LPCBYTE)ip, &fn, NULL)) && fn.id) {
            frame->fn = fn;
            return 1;
        }
    }
    return 0;
}
