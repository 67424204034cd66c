/* SPDX-License-Identifier: MIT */
#include "instr/metadata/signature_text.h"

/* ilasm's word for each type, and the name of its class. */
static const struct {
    const char *word, *name;
} simple[] = {
    [SXS_ELEMENT_VOID] = {"void", "System.Void"},
    [SXS_ELEMENT_BOOLEAN] = {"bool", "System.Boolean"},
    [SXS_ELEMENT_CHAR] = {"char", "System.Char"},
    [SXS_ELEMENT_I1] = {"int8", "System.SByte"},
    [SXS_ELEMENT_U1] = {"uint8", "System.Byte"},
    [SXS_ELEMENT_I2] = {"int16", "System.Int16"},
    [SXS_ELEMENT_U2] = {"uint16", "System.UInt16"},
    [SXS_ELEMENT_I4] = {"int32", "System.Int32"},
    [SXS_ELEMENT_U4] = {"uint32", "System.UInt32"},
    [SXS_ELEMENT_I8] = {"int64", "System.Int64"},
    [SXS_ELEMENT_U8] = {"uint64", "System.UInt64"},
    [SXS_ELEMENT_R4] = {"float32", "System.Single"},
    [SXS_ELEMENT_R8] = {"float64", "System.Double"},
    [SXS_ELEMENT_STRING] = {"string", "System.String"},
    [SXS_ELEMENT_TYPEDBYREF] = {"typedref", "System.TypedReference"},
    [SXS_ELEMENT_I] = {"native int", "System.IntPtr"},
    [SXS_ELEMENT_U] = {"native uint", "System.UIntPtr"},
    [SXS_ELEMENT_OBJECT] = {"object", "System.Object"},
    [SXS_ELEMENT_SENTINEL] = {"...", NULL},
};

#define N_SIMPLE (sizeof(simple) / sizeof(simple[0]))

const char *sxs_element_name(uint8_t element)
{
    return element < N_SIMPLE ? simple[element].name : NULL;
}

void sxs_sig_put_convention(struct sxs_text *t, unsigned convention)
{
    static const char *const kinds[16] = {
        [1] = "unmanaged cdecl ",    [2] = "unmanaged stdcall ", [3] = "unmanaged thiscall ",
        [4] = "unmanaged fastcall ", [5] = "vararg ",            [9] = "unmanaged ",
    };
    if (convention & 0x20)
        sxs_text_put(t, "instance ");
    if (convention & 0x40)
        sxs_text_put(t, "explicit ");
    if (kinds[convention & 0xf])
        sxs_text_put(t, kinds[convention & 0xf]);
}

/* ---- composed types -------------------------------------------------------------------------- */

static void put_list(struct sxs_text *t, const struct sxs_sig *sig, uint32_t first,
                     const struct sxs_il_type_names *names, const char *open, const char *close)
{
    sxs_text_put(t, open);
    for (uint32_t n = first; n != SXS_SIG_NONE; n = sig->nodes[n].next) {
        if (n != first)
            sxs_text_put(t, ", ");
        sxs_sig_put_type(t, sig, n, names);
    }
    sxs_text_put(t, close);
}

/* Writes an array with its dimensions: `0...9` with a size, `0...` with a lower bound only, and
 * `...` for an array of one dimension with neither. */
static void put_array(struct sxs_text *t, const struct sxs_sig *sig,
                      const struct sxs_sig_node *array, const struct sxs_il_type_names *names)
{
    uint32_t size = sig->nodes[array->child].next, bound = size;
    sxs_sig_put_type(t, sig, array->child, names);
    while (bound != SXS_SIG_NONE && sig->nodes[bound].element == SXS_ELEMENT_SIZE)
        bound = sig->nodes[bound].next;
    sxs_text_put(t, "[");
    for (uint32_t i = 0; i < array->value; i++) {
        const struct sxs_sig_node *s = size == SXS_SIG_NONE ? NULL : &sig->nodes[size];
        const struct sxs_sig_node *b = bound == SXS_SIG_NONE ? NULL : &sig->nodes[bound];
        int32_t                    low = b ? (int32_t)b->value : 0;
        if (s && s->element != SXS_ELEMENT_SIZE)
            s = NULL;
        if (i)
            sxs_text_put(t, ",");
        if (s)
            sxs_text_putf(t, "%d...%lld", low, (long long)low + s->value - 1);
        else if (b)
            sxs_text_putf(t, "%d...", low);
        else if (array->value == 1)
            sxs_text_put(t, "...");
        size = s ? s->next : size;
        bound = b ? b->next : bound;
    }
    sxs_text_put(t, "]");
}

static void put_function(struct sxs_text *t, const struct sxs_sig *sig,
                         const struct sxs_sig_node *f, const struct sxs_il_type_names *names)
{
    sxs_text_put(t, "method ");
    sxs_sig_put_convention(t, f->value);
    sxs_sig_put_type(t, sig, f->child, names);
    put_list(t, sig, sig->nodes[f->child].next, names, " *(", ")");
}

static void put_modified(struct sxs_text *t, const struct sxs_sig *sig,
                         const struct sxs_sig_node *m, const struct sxs_il_type_names *names)
{
    sxs_sig_put_type(t, sig, m->child, names);
    sxs_text_put(t, m->element == SXS_ELEMENT_CMOD_REQD ? " modreq(" : " modopt(");
    names->put(names->context, t, m->value);
    sxs_text_put(t, ")");
}

/* Writes the child of @n and then @after. */
static void put_after(struct sxs_text *t, const struct sxs_sig *sig, const struct sxs_sig_node *n,
                      const struct sxs_il_type_names *names, const char *after)
{
    sxs_sig_put_type(t, sig, n->child, names);
    sxs_text_put(t, after);
}

void sxs_sig_put_type(struct sxs_text *t, const struct sxs_sig *sig, uint32_t node,
                      const struct sxs_il_type_names *names)
{
    const struct sxs_sig_node *n = &sig->nodes[node];
    switch (n->element) {
    case SXS_ELEMENT_PTR: put_after(t, sig, n, names, "*"); break;
    case SXS_ELEMENT_BYREF: put_after(t, sig, n, names, "&"); break;
    case SXS_ELEMENT_PINNED: put_after(t, sig, n, names, " pinned"); break;
    case SXS_ELEMENT_SZARRAY: put_after(t, sig, n, names, "[]"); break;
    case SXS_ELEMENT_VALUETYPE:
    case SXS_ELEMENT_CLASS:
        sxs_text_put(t, n->element == SXS_ELEMENT_CLASS ? "class " : "valuetype ");
        names->put(names->context, t, n->value);
        break;
    case SXS_ELEMENT_VAR: sxs_text_putf(t, "!%u", n->value); break;
    case SXS_ELEMENT_MVAR: sxs_text_putf(t, "!!%u", n->value); break;
    case SXS_ELEMENT_ARRAY: put_array(t, sig, n, names); break;
    case SXS_ELEMENT_GENERICINST:
        sxs_sig_put_type(t, sig, n->child, names);
        put_list(t, sig, sig->nodes[n->child].next, names, "<", ">");
        break;
    case SXS_ELEMENT_FNPTR: put_function(t, sig, n, names); break;
    case SXS_ELEMENT_CMOD_REQD:
    case SXS_ELEMENT_CMOD_OPT: put_modified(t, sig, n, names); break;
    default:
        sxs_text_put(t, n->element < N_SIMPLE && simple[n->element].word ? simple[n->element].word
                                                                         : "?");
        break;
    }
}

void sxs_sig_put_parameters(struct sxs_text *t, const struct sxs_sig *sig,
                            const struct sxs_il_type_names *names)
{
    put_list(t, sig, sig->n_params ? sig->params : SXS_SIG_NONE, names, "(", ")");
}
