/* SPDX-License-Identifier: MIT */
#include "values/declared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES    64u /* of a field's signature */
#define ARGS_MAX 16u /* type arguments of a class */
enum { TABLE_TYPEREF = 0x01, TABLE_TYPEDEF = 0x02, FIELD_STATIC = 0x10 };

static int is_value_node(const struct sxs_sig *sig, uint32_t at)
{
    uint8_t element = sig->nodes[at].element;
    if (element == SXS_ELEMENT_GENERICINST)
        element = sig->nodes[sig->nodes[at].child].element;
    return element == SXS_ELEMENT_VALUETYPE;
}

static int is_enum(const struct sxs_generic *in, mdTypeDef type)
{
    WCHAR   name[16] = {0};
    ULONG   n = 0;
    DWORD   flags = 0;
    mdToken base = 0;
    HRESULT hr = in->imp->vtbl->GetTypeDefProps(in->imp, type, NULL, 0, &n, &flags, &base);
    if (SUCCEEDED(hr) && base >> 24 == TABLE_TYPEREF)
        hr = in->imp->vtbl->GetTypeRefProps(in->imp, base, NULL, name, ARRAY_LEN(name), &n);
    else if (SUCCEEDED(hr) && base >> 24 == TABLE_TYPEDEF)
        hr = in->imp->vtbl->GetTypeDefProps(in->imp, base, name, ARRAY_LEN(name), &n, &flags, NULL);
    return SUCCEEDED(hr) && n == ARRAY_LEN(u"System.Enum") &&
           memcmp(name, u"System.Enum", sizeof(u"System.Enum")) == 0;
}

/* An enum that is only the type of fields is not loaded. Then its values are shown as numbers. */
static void read_enum(const struct sxs_generic *in, mdTypeDef type, struct sxs_type_desc *out)
{
    HCORENUM   all = NULL;
    mdFieldDef token = 0;
    ULONG      n = 0;
    while (SUCCEEDED(in->imp->vtbl->EnumFields(in->imp, &all, type, &token, 1, &n)) && n == 1) {
        PCCOR_SIGNATURE bytes = NULL;
        ULONG           size = 0;
        DWORD           flags = FIELD_STATIC;
        size_t          after;
        if (SUCCEEDED(in->imp->vtbl->GetFieldProps(in->imp, token, NULL, NULL, 0, NULL, &flags,
                                                   &bytes, &size, NULL, NULL, NULL)) &&
            !(flags & FIELD_STATIC) && sxs_field_element(bytes, size, &after) > 0) {
            out->element = (uint8_t)sxs_field_element(bytes, size, &after);
            break;
        }
    }
    in->imp->vtbl->CloseEnum(in->imp, all);
}

static int is_reference_class(const struct sxs_runtime *rt, ClassID id)
{
    const struct sxs_type *t = sxs_types_find(rt, id);
    return t && (t->kind == SXS_TYPE_REFERENCE || t->kind == SXS_TYPE_STRING);
}

/* Replaces references among the type arguments of the node @at by the type parameter @canon. */
static void replace_references(const struct sxs_generic *in, struct sxs_sig *sig, uint32_t at,
                               uint32_t canon)
{
    struct sxs_sig_node *generic = &sig->nodes[at];
    uint32_t             arg = sig->nodes[generic->child].next;
    for (; arg != SXS_SIG_NONE; arg = sig->nodes[arg].next) {
        struct sxs_sig_node *node = &sig->nodes[arg];
        int                  replaced = 0;
        switch (node->element) {
        case SXS_ELEMENT_CLASS:
        case SXS_ELEMENT_STRING:
        case SXS_ELEMENT_OBJECT:
        case SXS_ELEMENT_SZARRAY:
        case SXS_ELEMENT_ARRAY: replaced = 1; break;
        case SXS_ELEMENT_VAR:
            replaced = node->value < in->n_type_args &&
                       is_reference_class(in->module.rt, in->type_args[node->value]);
            break;
        case SXS_ELEMENT_GENERICINST:
            replaced = sig->nodes[node->child].element == SXS_ELEMENT_CLASS;
            if (!replaced)
                replace_references(in, sig, arg, canon);
            break;
        default: break;
        }
        if (replaced) {
            node->element = SXS_ELEMENT_VAR;
            node->value = canon;
        }
    }
}

/* A struct with type arguments that are references may be loaded only in the form that all of them
 * share, which has the same fields: System.__Canon in place of each reference. */
static void read_shared(const struct sxs_generic *in, struct sxs_sig *sig, uint32_t at,
                        struct sxs_type_desc *desc)
{
    ClassID                args[ARGS_MAX + 1];
    struct sxs_generic     shared = *in;
    struct sxs_type_desc   named = {.rt = desc->rt, .module = desc->module};
    const struct sxs_type *t;
    char                   name[SXS_DECLARED_NAME];
    uint32_t               n = in->n_type_args;
    if (n > ARGS_MAX || !(args[n] = sxs_types_canon(in->module.rt)))
        return;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = in->type_args[i];
        sxs_types_add_locked((sxs_class){in->module.rt, args[i]});
    }
    shared.type_args = args;
    shared.n_type_args = n + 1;
    replace_references(&shared, sig, at, n);
    sxs_name_of_node(&shared, sig, at, name, sizeof(name));
    named.name = name;
    t = sxs_type_desc_type(&named);
    if (t)
        atomic_store(&desc->type, t);
}

void sxs_declared_read(const struct sxs_layout *l, const uint8_t *bytes, size_t size,
                       struct sxs_declared *out)
{
    struct sxs_sig_node nodes[NODES];
    struct sxs_sig      sig;
    struct sxs_generic  context = {
         .module = {l->rt, l->module}, .type_args = l->args, .n_type_args = l->n_args};
    uint32_t at;
    *out = (struct sxs_declared){.desc = {.rt = l->rt, .name = "signature"}};
    if (sxs_sig_parse(SXS_SIG_FIELD, bytes, size, nodes, NODES, &sig) != 0)
        return;
    at = sxs_sig_plain(&sig, sig.result);
    if (at == SXS_SIG_NONE)
        return;
    sxs_types_lock();
    context.imp = sxs_types_import_locked(context.module);
    out->desc.name = NULL;
    sxs_name_of_node(&context, &sig, at, out->name, sizeof(out->name));
    if (nodes[at].element == SXS_ELEMENT_PTR || nodes[at].element == SXS_ELEMENT_FNPTR) {
        out->desc.element = nodes[at].element;
    } else {
        sxs_type_desc_read(&context, &sig, at, &out->desc);
        if (is_value_node(&sig, at))
            out->owned = (char *)(uintptr_t)out->desc.name;
        if (out->desc.element == SXS_ELEMENT_VALUETYPE && !sxs_type_desc_type(&out->desc) &&
            nodes[at].element == SXS_ELEMENT_VALUETYPE && nodes[at].value >> 24 == TABLE_TYPEDEF &&
            context.imp && is_enum(&context, nodes[at].value))
            read_enum(&context, nodes[at].value, &out->desc);
        if (out->desc.element == SXS_ELEMENT_VALUETYPE)
            out->token = nodes[at].element == SXS_ELEMENT_GENERICINST ? nodes[nodes[at].child].value
                                                                      : nodes[at].value;
        if (out->desc.element == SXS_ELEMENT_VALUETYPE && !sxs_type_desc_type(&out->desc) &&
            nodes[at].element == SXS_ELEMENT_GENERICINST && context.imp)
            read_shared(&context, &sig, at, &out->desc);
    }
    sxs_types_unlock();
}

const char *sxs_field_plain_name(const char *name, char *out, size_t size)
{
    const char *end = name[0] == '<' ? strstr(name, ">k__BackingField") : NULL;
    if (!end) /* that of a property is shown by the property's name */
        return name;
    snprintf(out, size, "%.*s", (int)(end - name - 1), name + 1);
    return out;
}
