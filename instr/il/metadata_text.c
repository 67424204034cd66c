/* SPDX-License-Identifier: MIT */
#include "instr/il/metadata_text.h"

#include <string.h>

#include "instr/metadata/type_name.h"

#define NODES_MAX   4096
#define NESTING_MAX 32

/* ---- types ----------------------------------------------------------------------------------- */

static void put_scope(const struct sxs_metadata *md, struct sxs_text *t, uint32_t scope)
{
    uint32_t row = scope & 0xffffff;
    if (scope >> 24 == SXS_TABLE_ASSEMBLY_REF) {
        sxs_text_put(t, "[");
        sxs_il_put_name(t, sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_ASSEMBLY_REF, row,
                                                         SXS_ASSEMBLY_REF_NAME)));
        sxs_text_put(t, "]");
    } else if (scope >> 24 == SXS_TABLE_MODULE_REF) {
        sxs_text_put(t, "[.module ");
        sxs_il_put_name(
            t, sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_MODULE_REF, row, SXS_MODULE_REF_NAME)));
        sxs_text_put(t, "]");
    }
}

static void begin_type_ref(const void *context, struct sxs_text *t, uint32_t scope)
{
    put_scope(context, t, scope);
}

static void put_type_name(const struct sxs_metadata *md, struct sxs_text *t,
                          const struct sxs_type_style *style, uint32_t token)
{
    struct sxs_type_source from = sxs_types_of_file(md);
    sxs_type_put(t, &from, style, token);
}

static const struct sxs_type_style plain = {.nested = "+"};
static const struct sxs_type_style ilasm = {
    .nested = "/", .put = sxs_il_put_name, .begin = begin_type_ref};

void sxs_md_put_type_name(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    if (token >> 24 == SXS_TABLE_TYPE_DEF || token >> 24 == SXS_TABLE_TYPE_REF)
        put_type_name(md, t, &plain, token);
    else
        sxs_text_put(t, "?");
}

static void put_type_token(void *context, struct sxs_text *t, uint32_t token)
{
    sxs_md_put_type(context, t, token);
}

static struct sxs_il_type_names type_names(const struct sxs_metadata *md)
{
    return (struct sxs_il_type_names){put_type_token, (void *)(uintptr_t)md};
}

/* The signature of a TypeSpec can refer to other TypeSpecs, in untrusted metadata even to itself.
 * Only one level of them is resolved. */
struct within {
    const struct sxs_metadata *md;
    unsigned                   depth;
};

static void put_type_spec(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token,
                          unsigned depth);

static void put_type_within(void *context, struct sxs_text *t, uint32_t token)
{
    const struct within *w = context;
    if (token >> 24 == SXS_TABLE_TYPE_SPEC)
        put_type_spec(w->md, t, token, w->depth + 1);
    else
        sxs_md_put_type(w->md, t, token);
}

static int parse_signature(struct sxs_blob b, enum sxs_sig_kind kind, struct sxs_sig_node *nodes,
                           struct sxs_sig *sig)
{
    return sxs_sig_parse(kind, b.at, b.size, nodes, NODES_MAX, sig);
}

static void put_type_spec(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token,
                          unsigned depth)
{
    struct within            within = {md, depth};
    struct sxs_il_type_names names = {put_type_within, &within};
    struct sxs_sig_node      nodes[256];
    struct sxs_sig           sig;
    struct sxs_blob          b = sxs_md_signature(md, token);
    if (depth > 1 || sxs_sig_parse(SXS_SIG_TYPE, b.at, b.size, nodes, 256, &sig) != 0)
        sxs_text_putf(t, "0x%08x", token);
    else
        sxs_sig_put_type(t, &sig, sig.result, &names);
}

void sxs_md_put_type(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    switch (token >> 24) {
    case SXS_TABLE_TYPE_DEF:
    case SXS_TABLE_TYPE_REF: put_type_name(md, t, &ilasm, token); break;
    case SXS_TABLE_TYPE_SPEC: put_type_spec(md, t, token, 0); break;
    default: sxs_text_putf(t, "0x%08x", token); break;
    }
}

/* ---- methods and fields ---------------------------------------------------------------------- */

struct member {
    uint32_t        owner; /* token; 0: none */
    const char     *name;
    struct sxs_blob signature;
    uint32_t        spec; /* row of a MethodSpec; 0: none */
};

static int find_member(const struct sxs_metadata *md, uint32_t token, struct member *m)
{
    uint32_t       row = token & 0xffffff;
    enum sxs_table table = (enum sxs_table)(token >> 24);
    *m = (struct member){.signature = sxs_md_signature(md, token)};
    if (table == SXS_TABLE_METHOD_SPEC) {
        m->spec = row;
        token = sxs_md_cell(md, table, row, SXS_METHOD_SPEC_METHOD);
        table = (enum sxs_table)(token >> 24);
        row = token & 0xffffff;
    }
    if (table == SXS_TABLE_MEMBER_REF) {
        m->owner = sxs_md_cell(md, table, row, SXS_MEMBER_REF_PARENT);
        m->name = sxs_md_string(md, sxs_md_cell(md, table, row, SXS_MEMBER_REF_NAME));
    } else if (table == SXS_TABLE_METHOD_DEF || table == SXS_TABLE_FIELD) {
        m->owner = sxs_md_owner(md, token);
        m->name = sxs_md_string(md, sxs_md_cell(md, table, row, table == SXS_TABLE_FIELD
                                                                    ? SXS_FIELD_NAME
                                                                    : SXS_METHOD_DEF_NAME));
    } else {
        return -1;
    }
    if (m->owner >> 24 == SXS_TABLE_METHOD_DEF) /* call site of a vararg method */
        m->owner = sxs_md_owner(md, m->owner);
    return 0;
}

static void put_owner(const struct sxs_metadata *md, struct sxs_text *t, const struct member *m)
{
    if (m->owner >> 24 == SXS_TABLE_MODULE_REF) {
        put_scope(md, t, m->owner);
        sxs_text_put(t, "::");
    } else if (m->owner && m->owner != sxs_token(SXS_TABLE_TYPE_DEF, 1)) {
        sxs_md_put_type(md, t, m->owner);
        sxs_text_put(t, "::");
    }
    sxs_il_put_name(t, m->name);
}

/* An instantiation has the format of a signature of locals, except for the first byte. */
static void put_instantiation(const struct sxs_metadata *md, struct sxs_text *t, uint32_t row)
{
    struct sxs_il_type_names names = type_names(md);
    struct sxs_sig_node      nodes[256];
    struct sxs_sig           sig;
    struct sxs_blob          b = sxs_md_blob(
                 md, sxs_md_cell(md, SXS_TABLE_METHOD_SPEC, row, SXS_METHOD_SPEC_INSTANTIATION));
    uint8_t bytes[1024];
    if (!b.size || b.size > sizeof(bytes))
        return;
    memcpy(bytes, b.at, b.size);
    bytes[0] = 0x07; /* the first byte of a signature of locals */
    if (sxs_sig_parse(SXS_SIG_LOCALS, bytes, b.size, nodes, 256, &sig) != 0)
        return;
    sxs_text_put(t, "<");
    for (uint32_t n = sig.params; n != SXS_SIG_NONE; n = nodes[n].next) {
        if (n != sig.params)
            sxs_text_put(t, ", ");
        sxs_sig_put_type(t, &sig, n, &names);
    }
    sxs_text_put(t, ">");
}

static int put_member(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    struct sxs_il_type_names names = type_names(md);
    struct sxs_sig_node      nodes[512];
    struct sxs_sig           sig;
    struct member            m;
    int                      is_field;
    if (find_member(md, token, &m) != 0 || !m.signature.size)
        return -1;
    is_field = (m.signature.at[0] & 0xf) == 0x06;
    if (sxs_sig_parse(is_field ? SXS_SIG_FIELD : SXS_SIG_METHOD, m.signature.at, m.signature.size,
                      nodes, 512, &sig) != 0)
        return -1;
    if (!is_field)
        sxs_sig_put_convention(t, sig.convention);
    sxs_sig_put_type(t, &sig, sig.result, &names);
    sxs_text_put(t, " ");
    put_owner(md, t, &m);
    if (m.spec)
        put_instantiation(md, t, m.spec);
    if (!is_field)
        sxs_sig_put_parameters(t, &sig, &names);
    return 0;
}

void sxs_md_put_method(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    if (put_member(md, t, token) != 0)
        sxs_text_putf(t, "0x%08x", token);
}

void sxs_md_put_full_name(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    uint32_t owner = sxs_md_owner(md, token);
    if (owner && owner != sxs_token(SXS_TABLE_TYPE_DEF, 1)) {
        sxs_md_put_type_name(md, t, owner);
        sxs_text_put(t, ".");
    }
    sxs_text_put(t, sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_METHOD_DEF, token & 0xffffff,
                                                  SXS_METHOD_DEF_NAME)));
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Writes the operand of calli, a signature without a name. */
static int put_signature(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    struct sxs_il_type_names names = type_names(md);
    struct sxs_sig_node      nodes[512];
    struct sxs_sig           sig;
    struct sxs_blob          b = sxs_md_signature(md, token);
    if (sxs_sig_parse(SXS_SIG_METHOD, b.at, b.size, nodes, 512, &sig) != 0)
        return -1;
    sxs_sig_put_convention(t, sig.convention);
    sxs_sig_put_type(t, &sig, sig.result, &names);
    sxs_sig_put_parameters(t, &sig, &names);
    return 0;
}

/* Writes the operand of ldtoken: a type, or a field or method after the word that says which. */
static int put_any(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token)
{
    struct sxs_blob b = sxs_md_signature(md, token);
    uint32_t        table = token >> 24;
    if (table == SXS_TABLE_TYPE_DEF || table == SXS_TABLE_TYPE_REF || table == SXS_TABLE_TYPE_SPEC) {
        sxs_md_put_type(md, t, token);
        return 0;
    }
    sxs_text_put(t, b.size && (b.at[0] & 0xf) == 0x06 ? "field " : "method ");
    return put_member(md, t, token);
}

static int put_token(void *context, struct sxs_text *t, enum sxs_il_opcode opcode, uint32_t token)
{
    const struct sxs_metadata *md = context;
    struct sxs_blob            b;
    switch (sxs_il_opcodes[opcode].operand) {
    case SXS_IL_OPERAND_METHOD:
    case SXS_IL_OPERAND_FIELD: return put_member(md, t, token);
    case SXS_IL_OPERAND_TYPE: sxs_md_put_type(md, t, token); return 0;
    case SXS_IL_OPERAND_TOKEN: return put_any(md, t, token);
    case SXS_IL_OPERAND_SIGNATURE: return put_signature(md, t, token);
    case SXS_IL_OPERAND_STRING:
        b = sxs_md_user_string(md, token);
        sxs_il_put_utf16(t, b.at, b.size);
        return 0;
    default: return -1;
    }
}

static int put_locals(void *context, struct sxs_text *t, uint32_t token)
{
    const struct sxs_metadata *md = context;
    struct sxs_il_type_names   names = type_names(md);
    struct sxs_sig_node        nodes[NODES_MAX];
    struct sxs_sig             sig;
    unsigned                   i = 0;
    if (parse_signature(sxs_md_signature(md, token), SXS_SIG_LOCALS, nodes, &sig) != 0)
        return -1;
    for (uint32_t n = sig.n_params ? sig.params : SXS_SIG_NONE; n != SXS_SIG_NONE;
         n = nodes[n].next, i++) {
        if (i)
            sxs_text_put(t, ", ");
        sxs_sig_put_type(t, &sig, n, &names);
        sxs_text_putf(t, " V_%u", i);
    }
    return 0;
}

struct sxs_il_names sxs_md_names(const struct sxs_metadata *md)
{
    return (struct sxs_il_names){put_token, put_locals, (void *)(uintptr_t)md};
}
