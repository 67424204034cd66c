/* SPDX-License-Identifier: MIT */
#include "values/formatter.h"

#include <stdlib.h>
#include <string.h>

#include "manager/module_info.h"
#include "values/complete.h"
#include "values/layout.h"
#include "values/line.h"
#include "values/show.h"

#define ARGS_MAX  64
#define NODES_MAX 512
#define NAME_MAX_UTF16 256
#define NAME_SIZE      1024
enum { CONVENTION_THIS = 0x20, CONVENTION_EXPLICIT = 0x40 };
enum { PARAM_IN = 1, PARAM_OUT = 2 };

/* The runtime's answers about a function. */
struct function_answers {
    sxs_class             cls;
    mdToken               token, type;
    ClassID               type_args[ARGS_MAX], method_args[ARGS_MAX];
    struct sxs_generic    in;
    int                   missing; /* 1: the argument for a type parameter is not known */
    int                   shared;  /* 1: one formatter for all instantiations; cls is not used */
    PCCOR_SIGNATURE       bytes;
    ULONG                 size;
    struct sxs_sig_node   nodes[NODES_MAX];
    struct sxs_sig        sig;
};

/* Asks about @fn without the frame of a call. Returns 0, or nonzero on failure. */
static int ask_locked(struct function_answers *a, sxs_function fn)
{
    ULONG32 n_type = 0, n_method = 0;
    ULONG   len = 0, rva = 0;
    DWORD   attributes = 0, flags = 0;
    WCHAR   name[NAME_MAX_UTF16];
    if (FAILED(sxs_info_GetFunctionInfo2(fn.rt, fn, 0, &a->cls, &a->in.module, &a->token,
                                         ARGS_MAX, &n_method, a->method_args)) || n_method > ARGS_MAX)
        return -1;
    if (a->cls.id && FAILED(sxs_info_GetClassIDInfo2(fn.rt, a->cls, NULL, NULL, NULL, ARGS_MAX,
                                                     &n_type, a->type_args)))
        n_type = 0;
    a->in.missing = &a->missing;
    a->in.open = 1;
    a->in.imp = sxs_types_import_locked(a->in.module);
    a->in.type_args = a->type_args;
    a->in.n_type_args = n_type < ARGS_MAX ? n_type : ARGS_MAX;
    a->in.method_args = a->method_args;
    a->in.n_method_args = n_method;
    if (!a->in.imp ||
        FAILED(a->in.imp->vtbl->GetMethodProps(a->in.imp, a->token, &a->type, name, NAME_MAX_UTF16,
                                               &len, &attributes, &a->bytes, &a->size, &rva,
                                               &flags)))
        return -1;
    return sxs_sig_parse(SXS_SIG_METHOD, a->bytes, a->size, a->nodes, NODES_MAX, &a->sig);
}

/* Describes the type that declares the method by its name, with a mark or "?" for each type
 * parameter. */
static void name_open(struct sxs_type_desc *of, const struct function_answers *a)
{
    char name[NAME_SIZE];
    sxs_name_of_typedef(&a->in, a->type, name, sizeof(name));
    of->element = SXS_ELEMENT_VALUETYPE;
    of->rt = a->in.module.rt;
    of->module = a->in.module.id;
    of->name = strdup(name);
}

/* Adds the parameter `this`: a reference, or for methods of a value type a pointer to the value. */
static void add_this(struct sxs_formatter *r, struct function_answers *a)
{
    struct sxs_param *p = &r->params[r->n_params++];
    struct sxs_type_desc *of;
    r->has_this = 1;
    p->name = "this";
    p->desc.rt = r->rt;
    p->desc.element = SXS_ELEMENT_OBJECT;
    if (!sxs_is_value_typedef(&a->in, a->type))
        return;
    of = calloc(1, sizeof(*of));
    p->desc.element = SXS_ELEMENT_BYREF;
    p->desc.of = of;
    if (of && !a->shared && a->cls.id)
        sxs_type_desc_of_class(a->cls, of);
    else if (of)
        name_open(of, a);
}

/* Returns 1 if the parameter has the attribute that C# emits for `in`. */
static int is_read_only(IMetaDataImport2 *imp, mdParamDef token)
{
    return sxs_import_has_attribute(imp, token,
                                    u"System.Runtime.CompilerServices.IsReadOnlyAttribute");
}

static void name_param(struct sxs_param *p, const struct function_answers *a, uint32_t index)
{
    IMetaDataImport2 *imp = a->in.imp;
    mdParamDef        token = 0;
    WCHAR             wide[NAME_MAX_UTF16] = {0};
    char              name[2 * NAME_MAX_UTF16] = "";
    ULONG             len = 0, seq = 0;
    DWORD             attributes = 0;
    if (SUCCEEDED(imp->vtbl->GetParamForMethodIndex(imp, a->token, index + 1, &token)) &&
        SUCCEEDED(imp->vtbl->GetParamProps(imp, token, NULL, &seq, wide, NAME_MAX_UTF16 - 1, &len,
                                           &attributes, NULL, NULL, NULL)))
        sxs_line_utf8(wide, NAME_MAX_UTF16, name, sizeof(name));
    if (!name[0]) {
        struct sxs_line line = sxs_line_in(name, sizeof(name));
        sxs_line_putf(&line, "arg%u", index);
    }
    p->name = strdup(name);
    p->is_out = p->desc.element == SXS_ELEMENT_BYREF && (attributes & PARAM_OUT) &&
                !(attributes & PARAM_IN);
    p->is_in = p->desc.element == SXS_ELEMENT_BYREF && (attributes & PARAM_IN) &&
               !(attributes & PARAM_OUT) && is_read_only(imp, token);
}

static void fill_locked(struct sxs_formatter *r, struct function_answers *a)
{
    uint32_t at = a->sig.params, index = 0;
    if ((a->sig.convention & CONVENTION_THIS) && !(a->sig.convention & CONVENTION_EXPLICIT))
        add_this(r, a);
    if (a->sig.n_params > SXS_FORMATTER_PARAMS || (a->sig.convention & 0x0f) == 5) {
        r->refused = a->sig.n_params > SXS_FORMATTER_PARAMS ? "too many parameters" : "varargs";
        return;
    }
    for (; at != SXS_SIG_NONE; at = a->sig.nodes[at].next, index++) {
        struct sxs_param *p = &r->params[r->n_params++];
        sxs_type_desc_read(&a->in, &a->sig, at, &p->desc);
        name_param(p, a, index);
    }
    sxs_type_desc_read(&a->in, &a->sig, a->sig.result, &r->result);
    r->by_frame = a->missing;
}

static struct sxs_formatter *begin_formatter(struct sxs_runtime *rt)
{
    struct sxs_formatter *r =
        calloc(1, sizeof(*r) + (SXS_FORMATTER_PARAMS + 1) * sizeof(r->params[0]));
    ULONG              length_at = 0, chars_at = 0;
    if (!r)
        return NULL;
    r->rt = rt;
    if (FAILED(sxs_info_GetStringLayout2(rt, &length_at, &chars_at)))
        r->refused = "layout of strings";
    r->length_at = (uint32_t)length_at;
    r->chars_at = (uint32_t)chars_at;
    return r;
}

static struct sxs_formatter *end_formatter(struct sxs_formatter *r)
{
    struct sxs_formatter *fitting = realloc(r, sizeof(*r) + r->n_params * sizeof(r->params[0]));
    if (!fitting)
        return r;
    return fitting;
}

static struct sxs_formatter *make_locked(sxs_function fn)
{
    struct function_answers *a = calloc(1, sizeof(*a));
    struct sxs_formatter    *r = begin_formatter(fn.rt);
    if (!a || !r) {
        free(a);
        free(r);
        return NULL;
    }
    if (ask_locked(a, fn) == 0)
        fill_locked(r, a);
    else
        r->refused = "signature";
    free(a);
    return end_formatter(r);
}

/* Reads the signature of a method definition; does not ask for type arguments. Returns 0, or
 * nonzero on failure. */
static int read_locked(struct function_answers *a, sxs_module module, mdToken token)
{
    ULONG len = 0, rva = 0;
    DWORD attributes = 0, flags = 0;
    WCHAR name[NAME_MAX_UTF16];
    a->token = token;
    a->shared = 1;
    a->in.module = module;
    a->in.missing = &a->missing;
    a->in.imp = sxs_types_import_locked(module);
    if (!a->in.imp ||
        FAILED(a->in.imp->vtbl->GetMethodProps(a->in.imp, token, &a->type, name, NAME_MAX_UTF16,
                                               &len, &attributes, &a->bytes, &a->size, &rva,
                                               &flags)))
        return -1;
    return sxs_sig_parse(SXS_SIG_METHOD, a->bytes, a->size, a->nodes, NODES_MAX, &a->sig);
}

static void find_message(struct sxs_formatter *r)
{
    const struct sxs_type   *t = sxs_types_named(r->rt, "System.Exception");
    const struct sxs_layout *l = t ? sxs_layout_get((sxs_class){r->rt, t->id}) : NULL;
    const struct sxs_field  *f = l ? sxs_layout_field(l, "_message") : NULL;
    r->message_at = f ? f->offset : 0;
}

struct sxs_formatter *sxs_formatter_of_method(sxs_module module, mdToken token)
{
    struct function_answers *a = calloc(1, sizeof(*a));
    struct sxs_formatter    *r = begin_formatter(module.rt);
    if (!a || !r) {
        free(a);
        free(r);
        return NULL;
    }
    sxs_types_lock();
    if (read_locked(a, module, token) == 0)
        fill_locked(r, a);
    else
        r->refused = "signature";
    find_message(r);
    sxs_types_unlock();
    free(a);
    return end_formatter(r);
}

struct sxs_formatter *sxs_formatter_make(sxs_function fn)
{
    struct sxs_formatter *r;
    sxs_types_lock();
    r = make_locked(fn);
    sxs_types_unlock();
    if (r && r->by_frame)
        sxs_formatter_prepare(r);
    return r;
}

size_t sxs_formatter_arguments(struct sxs_formatter                  *r,
                               const COR_PRF_FUNCTION_ARGUMENT_RANGE *ranges, uint32_t n, char *out,
                               size_t size)
{
    struct sxs_line line = sxs_line_in(out, size);
    if (r->refused || n != r->n_params) {
        sxs_line_putf(&line, "<?: %s>", r->refused ? r->refused : "another number of arguments");
        return line.text.len;
    }
    for (uint32_t i = 0; i < n && !line.text.cut; i++) {
        struct sxs_param *p = &r->params[i];
        sxs_line_putf(&line, "%s%.60s = ", i ? ", " : "", p->name ? p->name : "?");
        if (p->is_out)
            sxs_line_put(&line, "<out>");
        else
            sxs_show_at(&line, r, &p->desc, ranges[i]);
    }
    return line.text.len;
}

size_t sxs_formatter_result(struct sxs_formatter *r, COR_PRF_FUNCTION_ARGUMENT_RANGE at, char *out,
                            size_t size)
{
    struct sxs_line line = sxs_line_in(out, size);
    if (r->result.element == SXS_ELEMENT_VOID)
        return 0;
    if (r->refused)
        sxs_line_putf(&line, "<?: %s>", r->refused);
    else
        sxs_show_at(&line, r, &r->result, at);
    return line.text.len;
}

int sxs_formatter_is_entry(sxs_module module, mdToken token)
{
    IMetaDataImport2 *imp;
    int               is;
    sxs_types_lock();
    imp = sxs_types_import_locked(module);
    is = imp && sxs_import_is_entry(imp, token);
    sxs_types_unlock();
    return is;
}
