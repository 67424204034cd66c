/* SPDX-License-Identifier: MIT */
/* descriptor.c - makes type descriptors (struct sxs_type_desc) from signatures and loaded types. */
#include <stdlib.h>
#include <string.h>

#include "values/types.h"

#define NAME_SIZE 1024
#define DEPTH_MAX 8

void sxs_type_desc_of_class(sxs_class cls, struct sxs_type_desc *out)
{
    sxs_type_desc_of_type(cls.rt, sxs_types_add_locked(cls), out);
}

void sxs_type_desc_of_type(const struct sxs_runtime *rt, const struct sxs_type *t,
                           struct sxs_type_desc *out)
{
    out->rt = rt;
    if (!t) {
        out->name = "type argument";
        return;
    }
    switch (t->kind) {
    case SXS_TYPE_STRING: out->element = SXS_ELEMENT_STRING; break;
    case SXS_TYPE_PRIMITIVE: out->element = t->element; break;
    case SXS_TYPE_REFERENCE: out->element = SXS_ELEMENT_OBJECT; break;
    default:
        out->element = SXS_ELEMENT_VALUETYPE;
        out->name = t->name;
        out->module = t->module;
        atomic_store(&out->type, t);
    }
}

static void read_variable(const struct sxs_generic *in, const struct sxs_sig_node *node,
                          struct sxs_type_desc *out)
{
    int      of_method = node->element == SXS_ELEMENT_MVAR;
    uint32_t n = of_method ? in->n_method_args : in->n_type_args;
    if (node->value >= n) {
        if (in->missing)
            *in->missing = 1;
        out->variable = SXS_VARIABLE(of_method, node->value);
        out->name = "type parameter";
        return;
    }
    sxs_type_desc_of_class(
        (sxs_class){in->module.rt, (of_method ? in->method_args : in->type_args)[node->value]},
        out);
}

static void read_value_type(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                            struct sxs_type_desc *out)
{
    char name[NAME_SIZE];
    sxs_name_of_node(in, sig, at, name, sizeof(name));
    out->module = in->module.id;
    out->name = strdup(name);
    out->element = out->name ? SXS_ELEMENT_VALUETYPE : 0;
    if (sxs_primitive_element(name))
        out->element = sxs_primitive_element(name);
}

static void read_target(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                        struct sxs_type_desc *out)
{
    struct sxs_generic deeper = *in;
    struct sxs_type_desc *of;
    if (++deeper.depth > DEPTH_MAX)
        return;
    of = calloc(1, sizeof(*of));
    if (of)
        sxs_type_desc_read(&deeper, sig, at, of);
    out->of = of;
}

void sxs_type_desc_read(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                        struct sxs_type_desc *out)
{
    const struct sxs_sig_node *node;
    at = sxs_sig_plain(sig, at);
    if (at == SXS_SIG_NONE)
        return;
    node = &sig->nodes[at];
    out->rt = in->module.rt;
    out->element = node->element;
    switch (node->element) {
    case SXS_ELEMENT_CLASS:
    case SXS_ELEMENT_SZARRAY:
    case SXS_ELEMENT_ARRAY: out->element = SXS_ELEMENT_OBJECT; break;
    case SXS_ELEMENT_BYREF:
    case SXS_ELEMENT_PTR: read_target(in, sig, node->child, out); break;
    case SXS_ELEMENT_VAR:
    case SXS_ELEMENT_MVAR:
        out->element = 0;
        read_variable(in, node, out);
        break;
    case SXS_ELEMENT_VALUETYPE: read_value_type(in, sig, at, out); break;
    case SXS_ELEMENT_GENERICINST:
        if (sig->nodes[node->child].element == SXS_ELEMENT_VALUETYPE)
            read_value_type(in, sig, at, out);
        else
            out->element = SXS_ELEMENT_OBJECT;
        break;
    case SXS_ELEMENT_INTERNAL:
        out->element = 0;
        out->name = "a runtime's own type";
        break;
    default: break;
    }
}
