/* SPDX-License-Identifier: MIT */
/* instr/config/assembly.c - read names, parameters, attributes and state machines from metadata. */
#include "instr/config/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "instr/config/config_internal.h"
#include "instr/il/metadata_text.h"
#include "instr/metadata/state_machine.h"

#define NODES_MAX   4096
#define NAME_MAX_   4096

/* A method, and the type of the state machine that the compiler made of the method. */
struct machine_method {
    uint32_t type, method; /* TypeDef, MethodDef */
};

struct attribute_row {
    uint32_t parent, row;
};

struct sxs_assembly {
    const struct sxs_metadata *md;
    struct config_arena        arena; /* texts of the method described last */
    struct sxs_version         version;
    struct attribute_row      *attributes; /* sorted by parent */
    uint32_t                   n_attributes;
    struct machine_method     *machines;
    uint32_t                   n_machines;
    struct sxs_config_method   outer;
    struct sxs_sig_node        nodes[NODES_MAX];
    char                       name[NAME_MAX_];
};

/* ---- names ----------------------------------------------------------------------------------- */

static void put_type(void *context, struct sxs_text *t, uint32_t token)
{
    sxs_md_put_type_name(context, t, token);
}

/* Copies the text in @t into the arena, where it stays until the next method is described. */
static const char *keep(struct sxs_assembly *a, const struct sxs_text *t)
{
    return config_strndup(&a->arena, t->bytes, t->len < t->cap ? t->len : t->cap - 1);
}

static const char *type_name(struct sxs_assembly *a, uint32_t token)
{
    struct sxs_text t = sxs_text_counted(a->name, sizeof(a->name));
    a->name[0] = 0;
    sxs_md_put_type_name(a->md, &t, token);
    return keep(a, &t);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Returns the token of the type of the custom attribute in @row; 0: not known. */
static uint32_t attribute_type(const struct sxs_metadata *md, uint32_t row)
{
    uint32_t constructor =
        sxs_md_cell(md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_TYPE);
    if (constructor >> 24 == SXS_TABLE_METHOD_DEF)
        return sxs_md_owner(md, constructor);
    if (constructor >> 24 == SXS_TABLE_MEMBER_REF)
        return sxs_md_cell(md, SXS_TABLE_MEMBER_REF, constructor & 0xffffff, SXS_MEMBER_REF_PARENT);
    return 0;
}

static int by_parent(const void *x, const void *y)
{
    const struct attribute_row *a = x, *b = y;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Returns the index of the first attribute whose parent is @parent, or where it would be. */
static uint32_t first_attribute(const struct sxs_assembly *a, uint32_t parent)
{
    uint32_t low = 0, high = a->n_attributes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (a->attributes[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t count_attributes(const struct sxs_assembly *a, uint32_t parent)
{
    uint32_t n = 0, at = first_attribute(a, parent);
    while (at + n < a->n_attributes && a->attributes[at + n].parent == parent)
        n++;
    return n;
}

/* ---- state machines -------------------------------------------------------------------------- */

/* Returns the TypeDef called @name, of @len bytes, that is nested in @outer; 0: none. */
static uint32_t nested_type(const struct sxs_metadata *md, uint32_t outer, const char *name,
                            size_t len)
{
    uint32_t n = sxs_md_rows(md, SXS_TABLE_NESTED_CLASS);
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t    token = sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, row, SXS_NESTED_CLASS_NESTED);
        const char *s;
        if (sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, row, SXS_NESTED_CLASS_ENCLOSING) != outer)
            continue;
        s = sxs_md_string(md,
                          sxs_md_cell(md, SXS_TABLE_TYPE_DEF, token & 0xffffff, SXS_TYPE_DEF_NAME));
        if (!strncmp(s, name, len) && !s[len])
            return token;
    }
    return 0;
}

/* Returns the TypeDef of the state machine of @method, which the @value of an attribute names; 0:
 * none. */
static uint32_t machine_type(struct sxs_assembly *a, uint32_t method, struct sxs_blob value)
{
    const char *plus =
        sxs_md_attribute_type(value, a->name, sizeof(a->name)) ? strrchr(a->name, '+') : NULL;
    uint32_t type =
        plus ? nested_type(a->md, sxs_md_owner(a->md, method), plus + 1, strlen(plus + 1)) : 0;
    const char *name = type ? type_name(a, type) : NULL;
    return name && sxs_machine_possible(name) && sxs_machine_named(value, name) ? type : 0;
}

static void find_machine(struct sxs_assembly *a, uint32_t row, uint32_t parent)
{
    const char     *name = type_name(a, attribute_type(a->md, row));
    struct sxs_blob value;
    if (!name || !sxs_machine_attribute(name))
        return;
    value = sxs_md_blob(
        a->md, sxs_md_cell(a->md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_VALUE));
    a->machines[a->n_machines++] = (struct machine_method){machine_type(a, parent, value), parent};
}

static int read_attributes(struct sxs_assembly *a)
{
    uint32_t n = sxs_md_rows(a->md, SXS_TABLE_CUSTOM_ATTRIBUTE);
    a->attributes = calloc((size_t)n + 1, sizeof(*a->attributes));
    a->machines = calloc((size_t)n + 1, sizeof(*a->machines));
    if (!a->attributes || !a->machines)
        return -1;
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t parent =
            sxs_md_cell(a->md, SXS_TABLE_CUSTOM_ATTRIBUTE, row, SXS_CUSTOM_ATTRIBUTE_PARENT);
        a->attributes[a->n_attributes++] = (struct attribute_row){parent, row};
        if (parent >> 24 == SXS_TABLE_METHOD_DEF)
            find_machine(a, row, parent);
        if (a->arena.failed) /* no memory for an attribute name: a state machine could be missed */
            return -1;
        config_arena_clear(&a->arena);
    }
    qsort(a->attributes, a->n_attributes, sizeof(*a->attributes), by_parent);
    return 0;
}

/* ---- an assembly ----------------------------------------------------------------------------- */

struct sxs_assembly *sxs_assembly_new(const struct sxs_metadata *md)
{
    struct sxs_assembly *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->md = md;
    for (unsigned i = 0; i < 4; i++)
        a->version.part[i] =
            (uint16_t)sxs_md_cell(md, SXS_TABLE_ASSEMBLY, 1, SXS_ASSEMBLY_MAJOR + i);
    if (read_attributes(a)) {
        sxs_assembly_free(a);
        return NULL;
    }
    return a;
}

void sxs_assembly_free(struct sxs_assembly *assembly)
{
    if (!assembly)
        return;
    config_arena_clear(&assembly->arena);
    free(assembly->attributes);
    free(assembly->machines);
    free(assembly);
}

/* ---- a method -------------------------------------------------------------------------------- */

static void read_parameters(struct sxs_assembly *a, uint32_t token, struct sxs_config_method *m)
{
    struct sxs_blob         blob = sxs_md_signature(a->md, token);
    struct sxs_config_names names = {put_type, (void *)(uintptr_t)a->md};
    struct sxs_sig          sig;
    const char            **list;
    if (sxs_sig_parse(SXS_SIG_METHOD, blob.at, blob.size, a->nodes, NODES_MAX, &sig) != 0)
        return;
    list = config_alloc(&a->arena, (sig.n_params + 1) * sizeof(*list));
    m->parameters = list;
    if (!list)
        return;
    for (uint32_t n = sig.params; n != SXS_SIG_NONE && m->n_parameters < sig.n_params;
         n = sig.nodes[n].next) {
        struct sxs_text t = sxs_text_counted(a->name, sizeof(a->name));
        sxs_config_put_type(&t, &sig, n, &names);
        list[m->n_parameters++] = keep(a, &t);
    }
}

static void read_method_attributes(struct sxs_assembly *a, uint32_t token,
                                   struct sxs_config_method *m)
{
    uint32_t     parents[2] = {token, sxs_md_owner(a->md, token)};
    uint32_t     n = count_attributes(a, parents[0]) + count_attributes(a, parents[1]);
    const char **list = config_alloc(&a->arena, (n + 1) * sizeof(*list));
    m->attributes = list;
    for (int i = 0; list && i < 2; i++)
        for (uint32_t at = first_attribute(a, parents[i]);
             at < a->n_attributes && a->attributes[at].parent == parents[i]; at++)
            list[m->n_attributes++] = type_name(a, attribute_type(a->md, a->attributes[at].row));
}

static void read_one(struct sxs_assembly *a, uint32_t token, struct sxs_config_method *m)
{
    const struct sxs_metadata *md = a->md;
    memset(m, 0, sizeof(*m));
    m->assembly = sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_ASSEMBLY, 1, SXS_ASSEMBLY_NAME));
    m->version = &a->version;
    m->type = type_name(a, sxs_md_owner(md, token));
    m->method = sxs_md_string(
        md, sxs_md_cell(md, SXS_TABLE_METHOD_DEF, token & 0xffffff, SXS_METHOD_DEF_NAME));
    read_parameters(a, token, m);
    read_method_attributes(a, token, m);
}

int sxs_assembly_method(struct sxs_assembly *assembly, uint32_t token,
                        struct sxs_config_method *method)
{
    uint32_t owner = sxs_md_owner(assembly->md, token);
    config_arena_clear(&assembly->arena);
    read_one(assembly, token, method);
    for (uint32_t i = 0; owner && i < assembly->n_machines; i++)
        if (assembly->machines[i].type == owner && sxs_machine_body(method->method)) {
            read_one(assembly, assembly->machines[i].method, &assembly->outer);
            method->outer = &assembly->outer;
            break;
        }
    return assembly->arena.failed ? -1 : 0;
}

int sxs_assembly_is_outer(const struct sxs_assembly *assembly, uint32_t token)
{
    for (uint32_t i = 0; i < assembly->n_machines; i++)
        if (assembly->machines[i].method == token)
            return 1;
    return 0;
}

int sxs_assembly_parameter(const struct sxs_assembly *assembly, uint32_t token, const char *name)
{
    const struct sxs_metadata *md = assembly->md;
    uint32_t                   row = token & 0xffffff, n = sxs_md_rows(md, SXS_TABLE_PARAM);
    uint32_t from = sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_PARAMS) & 0xffffff;
    uint32_t to =
        row < sxs_md_rows(md, SXS_TABLE_METHOD_DEF)
            ? sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row + 1, SXS_METHOD_DEF_PARAMS) & 0xffffff
            : n + 1;
    for (; from && from < to && from <= n; from++) {
        uint32_t sequence = sxs_md_cell(md, SXS_TABLE_PARAM, from, SXS_PARAM_SEQUENCE);
        if (sequence &&
            !strcmp(sxs_md_string(md, sxs_md_cell(md, SXS_TABLE_PARAM, from, SXS_PARAM_NAME)),
                    name))
            return (int)sequence - 1;
    }
    return -1;
}
