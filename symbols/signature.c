/* SPDX-License-Identifier: MIT */
/* symbols/signature.c - writes the trees that instr/metadata/signature.h parses, in the words of stacks
 * and reports. */
#include <stdlib.h>

#include "instr/metadata/signature.h"
#include "instr/metadata/signature_text.h"
#include "symbols/signature_internal.h"

#define NODES_MAX 1024u /* of one signature; a longer one is treated as invalid */

struct signature_printer {
    const struct sxs_sig        *sig;
    const struct sxs_type_names *names;
    void                        *ctx;
    struct sxs_text             *out;
};

static void put_type(const struct signature_printer *w, uint32_t at);

const char *sxs_signature_primitive(uint32_t element_type)
{
    return element_type <= SXS_ELEMENT_OBJECT ? sxs_element_name((uint8_t)element_type) : NULL;
}

/* Appends the types from node @at on, separated by commas, and "...," for a sentinel. */
static void put_list(const struct signature_printer *w, uint32_t at)
{
    for (const char *comma = ""; at != SXS_SIG_NONE; at = w->sig->nodes[at].next) {
        sxs_text_put(w->out, comma);
        comma = ", ";
        if (w->sig->nodes[at].element == SXS_ELEMENT_SENTINEL)
            sxs_text_put(w->out, "...");
        else
            put_type(w, at);
    }
}

static void put_array(const struct signature_printer *w, const struct sxs_sig_node *array)
{
    put_type(w, array->child);
    sxs_text_put(w->out, "[");
    for (uint32_t i = 1; i < array->value; i++)
        sxs_text_put(w->out, ",");
    sxs_text_put(w->out, "]");
}

static void put_generic(const struct signature_printer *w, const struct sxs_sig_node *generic)
{
    const struct sxs_sig_node *open = &w->sig->nodes[generic->child];
    if (open->element == SXS_ELEMENT_INTERNAL)
        w->names->class_id(w->ctx, w->out, (ClassID)open->handle, 1);
    else
        put_type(w, generic->child);
    sxs_text_put(w->out, "<");
    put_list(w, open->next);
    sxs_text_put(w->out, ">");
}

/* Appends a function pointer as in C#, the return type last: delegate*<System.Int32, System.Void>. */
static void put_function_pointer(const struct signature_printer *w,
                                 const struct sxs_sig_node      *pointer)
{
    uint32_t params = w->sig->nodes[pointer->child].next;
    sxs_text_put(w->out, "delegate*<");
    put_list(w, params);
    sxs_text_put(w->out, params != SXS_SIG_NONE ? ", " : "");
    put_type(w, pointer->child);
    sxs_text_put(w->out, ">");
}

static void put_suffixed(const struct signature_printer *w, uint32_t child, const char *suffix)
{
    put_type(w, child);
    sxs_text_put(w->out, suffix);
}

/* Appends a type without its custom modifiers and "pinned", which a name does not need. */
static void put_type(const struct signature_printer *w, uint32_t at)
{
    const struct sxs_sig_node *n = &w->sig->nodes[sxs_sig_plain(w->sig, at)];
    const char                *word = sxs_signature_primitive(n->element);
    switch (n->element) {
    case SXS_ELEMENT_CLASS:
    case SXS_ELEMENT_VALUETYPE: w->names->token(w->ctx, w->out, n->value); break;
    case SXS_ELEMENT_INTERNAL: w->names->class_id(w->ctx, w->out, (ClassID)n->handle, 0); break;
    case SXS_ELEMENT_VAR:
    case SXS_ELEMENT_MVAR:
        w->names->variable(w->ctx, w->out, n->value, n->element == SXS_ELEMENT_MVAR);
        break;
    case SXS_ELEMENT_GENERICINST: put_generic(w, n); break;
    case SXS_ELEMENT_SZARRAY: put_suffixed(w, n->child, "[]"); break;
    case SXS_ELEMENT_ARRAY: put_array(w, n); break;
    case SXS_ELEMENT_PTR: put_suffixed(w, n->child, "*"); break;
    case SXS_ELEMENT_BYREF:
        sxs_text_put(w->out, "ref ");
        put_type(w, n->child);
        break;
    case SXS_ELEMENT_FNPTR: put_function_pointer(w, n); break;
    default: sxs_text_put(w->out, word ? word : "?"); break;
    }
}

/* Parses a signature. Returns its nodes, for the caller to free, or NULL when it is invalid or no memory
 * is left. */
static struct sxs_sig_node *parse(enum sxs_sig_kind kind, const uint8_t *bytes, size_t size,
                                  struct sxs_sig *sig)
{
    uint32_t cap = size < NODES_MAX ? (uint32_t)size + 1 : NODES_MAX; /* a byte or more each */
    struct sxs_sig_node *nodes = bytes ? malloc(cap * sizeof(*nodes)) : NULL;
    if (nodes && sxs_sig_parse(kind, bytes, size, nodes, cap, sig) == 0)
        return nodes;
    free(nodes);
    return NULL;
}

void sxs_signature_params(struct sxs_text *out, const uint8_t *sig, size_t size,
                          const struct sxs_type_names *names, void *ctx)
{
    struct sxs_sig                 tree;
    const struct signature_printer w = {&tree, names, ctx, out};
    struct sxs_sig_node           *nodes = parse(SXS_SIG_METHOD, sig, size, &tree);
    sxs_text_put(out, "(");
    if (nodes)
        put_list(&w, tree.params);
    sxs_text_put(out, nodes ? ")" : "?)");
    free(nodes);
}

void sxs_signature_type(struct sxs_text *out, const uint8_t *sig, size_t size,
                        const struct sxs_type_names *names, void *ctx)
{
    struct sxs_sig                 tree;
    const struct signature_printer w = {&tree, names, ctx, out};
    struct sxs_sig_node           *nodes = parse(SXS_SIG_TYPE, sig, size, &tree);
    if (nodes)
        put_type(&w, tree.result);
    else
        sxs_text_put(out, "?");
    free(nodes);
}
