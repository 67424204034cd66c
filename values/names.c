/* SPDX-License-Identifier: MIT */
/* names.c - full names of types, from metadata and from signatures. */
#include <stdio.h>
#include <string.h>

#include "symbols/type_name.h"
#include "values/line.h"
#include "values/types.h"

#define NAME_MAX_UTF16 1024 /* largest length of a name in metadata */
#define ARGS_MAX       16
#define ARG_SIZE       512
#define NESTED_MAX     8

#define TABLE(token) ((token) & 0xff000000u)
enum { TABLE_TYPEREF = 0x01000000, TABLE_TYPEDEF = 0x02000000 };

uint8_t sxs_primitive_element(const char *name)
{
    for (unsigned i = 0; i <= SXS_ELEMENT_OBJECT; i++) {
        const char *known = sxs_element_name((uint8_t)i);
        if (known && strcmp(known, name) == 0)
            return (uint8_t)i;
    }
    return 0;
}

uint32_t sxs_element_size(uint8_t element)
{
    switch (element) {
    case SXS_ELEMENT_BOOLEAN:
    case SXS_ELEMENT_I1:
    case SXS_ELEMENT_U1: return 1;
    case SXS_ELEMENT_CHAR:
    case SXS_ELEMENT_I2:
    case SXS_ELEMENT_U2: return 2;
    case SXS_ELEMENT_I4:
    case SXS_ELEMENT_U4:
    case SXS_ELEMENT_R4: return 4;
    case SXS_ELEMENT_I8:
    case SXS_ELEMENT_U8:
    case SXS_ELEMENT_R8:
    case SXS_ELEMENT_I:
    case SXS_ELEMENT_U:
    case SXS_ELEMENT_STRING:
    case SXS_ELEMENT_OBJECT:
    case SXS_ELEMENT_PTR:
    case SXS_ELEMENT_FNPTR:
    case SXS_ELEMENT_BYREF: return 8;
    default: return 0;
    }
}

static void append_text(char *out, size_t size, const char *s)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", s);
}

/* Writes a type's name as "Outer`1+Inner", with the parts as they are in the metadata. */
static void raw_name(const struct sxs_generic *in, mdToken type, char *out, size_t size)
{
    static const struct sxs_type_style style = {.numbers = 1};
    struct sxs_type_source             from = sxs_types_to_show(in->imp);
    struct sxs_text                    t = sxs_text_counted(out, size);
    if (TABLE(type) == TABLE_TYPEDEF || TABLE(type) == TABLE_TYPEREF)
        sxs_type_put(&t, &from, &style, type);
    else
        sxs_text_putf(&t, "[type 0x%08x]", type);
}

int sxs_is_value_typedef(const struct sxs_generic *in, mdToken type)
{
    char    name[2 * NAME_MAX_UTF16];
    ULONG   len = 0;
    DWORD   flags = 0;
    mdToken extends = 0;
    if (!in->imp ||
        FAILED(in->imp->vtbl->GetTypeDefProps(in->imp, type, NULL, 0, &len, &flags, &extends)))
        return 0;
    raw_name(in, extends, name, sizeof(name));
    return strcmp(name, "System.ValueType") == 0;
}

/* ---- marks ------------------------------------------------------------------------------------ */

#define MARK "\1" /* not in any name, because sxs_types_to_show() replaces control characters */

void sxs_mark_write(uint16_t variable, char *out)
{
    snprintf(out, SXS_MARK_SIZE, MARK "%04x" MARK, variable);
}

int sxs_mark_in(const char *name)
{
    return strchr(name, MARK[0]) != NULL;
}

/* A mark is cut off if it lies at the end of a name that was cut. */
uint16_t sxs_mark_read(const char **at)
{
    const char *digits = *at + 1;
    unsigned    value = 0;
    if (**at != MARK[0])
        return 0;
    for (*at = digits; *at - digits < 4 && strchr("0123456789abcdef", **at) && **at; ++*at)
        value = value * 16 + (unsigned)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
    if (*at - digits != 4 || **at != MARK[0])
        return UINT16_MAX;
    ++*at;
    return (uint16_t)value;
}

/* ---- generic names ---------------------------------------------------------------------------- */

/* Copies the name @raw to @out and replaces each arity suffix (such as "`2") with so many of the
 * arguments. A type parameter without argument becomes "?". With @open it becomes its mark; @open
 * is given if @raw is a type definition whose arguments are not known. */
static void fill_in(const struct sxs_generic *open, const char *raw, char (*args)[ARG_SIZE], uint32_t n,
                    char *out, size_t size)
{
    struct sxs_line line = sxs_line_in(out, size);
    uint32_t        used = 0;
    char            mark[SXS_MARK_SIZE];
    while (*raw) {
        size_t   plain = strcspn(raw, "`");
        uint32_t arity = 0;
        sxs_line_putf(&line, "%.*s", (int)(plain < 500 ? plain : 500), raw);
        raw += plain;
        if (!*raw)
            return;
        for (raw++; *raw >= '0' && *raw <= '9' && arity < 100; raw++)
            arity = arity * 10 + (uint32_t)(*raw - '0');
        for (uint32_t i = 0; i < arity; i++, used++) {
            sxs_line_put(&line, i ? ", " : "<");
            sxs_mark_write(SXS_VARIABLE(0, used), mark);
            sxs_line_put(&line, used < n ? args[used] : open ? mark : "?");
            if (used >= n && open && open->missing)
                *open->missing = 1;
        }
        sxs_line_put(&line, arity ? ">" : "`");
    }
}

void sxs_name_of_typedef(const struct sxs_generic *in, mdToken type, char *out, size_t size)
{
    char     raw[2 * NAME_MAX_UTF16], args[ARGS_MAX][ARG_SIZE];
    uint32_t n = in->n_type_args < ARGS_MAX ? in->n_type_args : ARGS_MAX;
    raw_name(in, type, raw, sizeof(raw));
    for (uint32_t i = 0; i < n; i++) {
        const struct sxs_type *t =
            in->depth < NESTED_MAX
                ? sxs_types_add_locked((sxs_class){in->module.rt, in->type_args[i]}) : NULL;
        snprintf(args[i], ARG_SIZE, "%s", t ? t->name : "?");
    }
    fill_in(in->open && !n ? in : NULL, raw, args, n, out, size);
}

static void name_instance(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t open,
                          char *out, size_t size)
{
    char     raw[2 * NAME_MAX_UTF16], args[ARGS_MAX][ARG_SIZE];
    uint32_t n = 0;
    raw_name(in, sig->nodes[open].value, raw, sizeof(raw));
    for (uint32_t i = sig->nodes[open].next; i != SXS_SIG_NONE && n < ARGS_MAX;
         i = sig->nodes[i].next)
        sxs_name_of_node(in, sig, i, args[n++], ARG_SIZE);
    fill_in(NULL, raw, args, n, out, size);
}

static void name_variable(const struct sxs_generic *in, const struct sxs_sig_node *node, char *out,
                          size_t size)
{
    int      of_method = node->element == SXS_ELEMENT_MVAR;
    uint32_t n = of_method ? in->n_method_args : in->n_type_args;
    const struct sxs_type *t = NULL;
    char                   mark[SXS_MARK_SIZE] = "?";
    if (node->value < n)
        t = sxs_types_add_locked(
            (sxs_class){in->module.rt, (of_method ? in->method_args : in->type_args)[node->value]});
    else if (in->missing)
        *in->missing = 1;
    if (node->value >= n && in->open)
        sxs_mark_write(SXS_VARIABLE(of_method, node->value), mark);
    snprintf(out, size, "%s", t ? t->name : mark);
}

static void name_array(const struct sxs_generic *in, const struct sxs_sig *sig,
                       const struct sxs_sig_node *node, char *out, size_t size)
{
    sxs_name_of_node(in, sig, node->child, out, size);
    append_text(out, size, "[");
    for (uint32_t i = 1; node->element == SXS_ELEMENT_ARRAY && i < node->value && i < 32; i++)
        append_text(out, size, ",");
    append_text(out, size, "]");
}

void sxs_name_of_node(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                      char *out, size_t size)
{
    struct sxs_generic         deeper = *in;
    const struct sxs_sig_node *node;
    at = sxs_sig_plain(sig, at);
    out[0] = '\0';
    if (at == SXS_SIG_NONE || ++deeper.depth > NESTED_MAX)
        return;
    node = &sig->nodes[at];
    if (sxs_element_name(node->element)) {
        snprintf(out, size, "%s", sxs_element_name(node->element));
        return;
    }
    switch (node->element) {
    case SXS_ELEMENT_CLASS:
    case SXS_ELEMENT_VALUETYPE: raw_name(in, node->value, out, size); break;
    case SXS_ELEMENT_GENERICINST: name_instance(&deeper, sig, node->child, out, size); break;
    case SXS_ELEMENT_VAR:
    case SXS_ELEMENT_MVAR: name_variable(in, node, out, size); break;
    case SXS_ELEMENT_SZARRAY:
    case SXS_ELEMENT_ARRAY: name_array(&deeper, sig, node, out, size); break;
    case SXS_ELEMENT_PTR:
        sxs_name_of_node(&deeper, sig, node->child, out, size);
        append_text(out, size, "*");
        break;
    default: snprintf(out, size, "?");
    }
}
