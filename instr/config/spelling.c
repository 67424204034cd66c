/* SPDX-License-Identifier: MIT */
/* instr/config/spelling.c - write types of signatures in the spelling of parameter lists. */
#include "instr/config/config.h"
#include "instr/metadata/signature_text.h"

static void put_list(struct sxs_text *t, const struct sxs_sig *sig, uint32_t first,
                     const struct sxs_config_names *names, const char *open, const char *close)
{
    sxs_text_put(t, open);
    for (uint32_t n = first; n != SXS_SIG_NONE; n = sig->nodes[n].next) {
        if (n != first)
            sxs_text_put(t, ",");
        sxs_config_put_type(t, sig, n, names);
    }
    sxs_text_put(t, close);
}

static void put_before(struct sxs_text *t, const struct sxs_sig *sig, const struct sxs_sig_node *n,
                       const struct sxs_config_names *names, const char *after)
{
    const struct sxs_sig_node *of = &sig->nodes[n->child];
    if (of->element == SXS_ELEMENT_VOID)
        sxs_text_put(t, "void"); /* void*, not System.Void* */
    else
        sxs_config_put_type(t, sig, n->child, names);
    sxs_text_put(t, after);
}

static void put_array(struct sxs_text *t, const struct sxs_sig *sig, const struct sxs_sig_node *n,
                      const struct sxs_config_names *names)
{
    sxs_config_put_type(t, sig, n->child, names);
    sxs_text_put(t, "[");
    for (uint32_t i = 1; i < n->value; i++)
        sxs_text_put(t, ",");
    sxs_text_put(t, "]");
}

static void put_function(struct sxs_text *t, const struct sxs_sig *sig,
                         const struct sxs_sig_node *n, const struct sxs_config_names *names)
{
    sxs_text_put(t, "(");
    sxs_config_put_type(t, sig, n->child, names);
    sxs_text_put(t, ")");
    put_list(t, sig, sig->nodes[n->child].next, names, "(", ")");
}

void sxs_config_put_type(struct sxs_text *t, const struct sxs_sig *sig, uint32_t node,
                         const struct sxs_config_names *names)
{
    const struct sxs_sig_node *n = &sig->nodes[node];
    switch (n->element) {
    case SXS_ELEMENT_PTR: put_before(t, sig, n, names, "*"); break;
    case SXS_ELEMENT_BYREF: put_before(t, sig, n, names, "&"); break;
    case SXS_ELEMENT_SZARRAY: put_before(t, sig, n, names, "[]"); break;
    case SXS_ELEMENT_VALUETYPE:
    case SXS_ELEMENT_CLASS: names->put(names->context, t, n->value); break;
    case SXS_ELEMENT_VAR: sxs_text_putf(t, "!%u", n->value); break;
    case SXS_ELEMENT_MVAR: sxs_text_putf(t, "!!%u", n->value); break;
    case SXS_ELEMENT_ARRAY: put_array(t, sig, n, names); break;
    case SXS_ELEMENT_GENERICINST:
        sxs_config_put_type(t, sig, n->child, names);
        put_list(t, sig, sig->nodes[n->child].next, names, "[", "]");
        break;
    case SXS_ELEMENT_FNPTR: put_function(t, sig, n, names); break;
    case SXS_ELEMENT_CMOD_REQD:
    case SXS_ELEMENT_CMOD_OPT:
    case SXS_ELEMENT_CMOD_INTERNAL:
    case SXS_ELEMENT_PINNED: sxs_config_put_type(t, sig, n->child, names); break;
    default:
        sxs_text_put(t, sxs_element_name(n->element) ? sxs_element_name(n->element) : "?");
        break;
    }
}
