/* SPDX-License-Identifier: MIT */
#include "rejit/methods/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text/utf8.h"
#include "instr/metadata/signature.h"
#include "instr/metadata/state_machine.h"
#include "instr/metadata/text.h"
#include "instr/weave/tokens.h"
#include "rejit/methods/rule_statistics.h"
#include "symbols/type_name.h"

#define NAME           2048
#define BATCH          64
#define MAX_PARAMS     64
#define MAX_ATTRIBUTES 64
#define MAX_NODES      512
#define TABLE(token)   ((token) >> 24)
enum { MEMBER_REF = 0x0a };
enum {
    METHOD_ABSTRACT = 0x0400,
    METHOD_PINVOKE = 0x2000,
    IMPL_CODE_MASK = 0x0003, /* 0 under this mask: IL */
    IMPL_UNMANAGED = 0x0004,
    IMPL_INTERNAL_CALL = 0x1000,
};
#define MODULE_TYPE 0x02000001u

/* A method's properties, as rules are matched against them. */
struct described {
    struct sxs_config_method method;
    int                      has_il;
    int                      unsure; /* nonzero: some of the attributes could not be read */
    char                     name[NAME];
    char               spelled[8192]; /* types of parameters and attributes, each ended by zero */
    const char        *parameters[MAX_PARAMS], *attributes[MAX_ATTRIBUTES]; /* in `spelled` */
    struct sxs_text    text;                                                /* writes `spelled` */
};

struct matcher {
    struct sxs_tokens          tokens;
    IMetaDataImport2          *imp;
    const struct sxs_config   *config;
    const char                *runtime;
    struct sxs_version         version;
    int                        with_attributes;
    uint8_t                   *open;   /* for each rule, 1: it has matched nothing so far; owned */
    uint32_t                   n_open; /* number of ones in `open` */
    const struct sxs_match_to *to;
    int                        failed; /* nonzero: part of the module could not be searched */
    int     unsure; /* nonzero: the method this type was made from is not fully known */
    char    type[NAME], outer_type[NAME]; /* names of the type, and of the type around it */
    mdToken outer;                        /* the type around it; 0: none */
    /* The method that is matched, and the method that the compiler made the type from. */
    struct described inner, made_from;
};

/* ---- names of types: Namespace.Outer+Inner`1 ------------------------------------------------- */

static const struct sxs_type_style style = {.nested = "+"};

/* Appends the name of the TypeDef or TypeRef @token; nothing for other tokens, or when the name cannot be
 * read. @import: an IMetaDataImport2, borrowed. */
static void put_type_name(void *import, struct sxs_text *t, uint32_t token)
{
    struct sxs_type_source from = sxs_types_of_import(import);
    if (TABLE(token) == SXS_TABLE_TYPE_DEF || TABLE(token) == SXS_TABLE_TYPE_REF)
        sxs_type_put(t, &from, &style, token);
}

/* Writes the name of the TypeDef @type to @out, cut to @size bytes. Returns 0, or -1 when it cannot be
 * read. */
static int get_type_name(IMetaDataImport2 *imp, mdToken type, char *out, size_t size)
{
    struct sxs_text        t = sxs_text_counted(out, size);
    struct sxs_type_source from = sxs_types_of_import(imp);
    return sxs_type_put(&t, &from, &style, type);
}

/* ---- one method ------------------------------------------------------------------------------- */

/* Keeps the zero after the text written since @start, and returns this text. NULL: no more
 * room. */
static const char *ended(struct described *d, size_t start)
{
    if (d->text.len + 1 >= d->text.cap)
        return NULL;
    d->text.len++;
    return d->spelled + start;
}

static void put_parameters(struct matcher *m, struct described *d, const uint8_t *sig, size_t size)
{
    struct sxs_sig_node     nodes[MAX_NODES];
    struct sxs_sig          tree;
    struct sxs_config_names names = {put_type_name, m->imp};
    uint32_t                n = 0;
    d->method.parameters = NULL;
    d->method.n_parameters = 1; /* nonzero with parameters NULL: not known */
    if (sxs_sig_parse(SXS_SIG_METHOD, sig, size, nodes, MAX_NODES, &tree))
        return;
    for (uint32_t i = tree.params; i != SXS_SIG_NONE && n < MAX_PARAMS; i = nodes[i].next) {
        size_t start = d->text.len;
        if (nodes[i].element == SXS_ELEMENT_SENTINEL)
            continue;
        sxs_config_put_type(&d->text, &tree, i, &names);
        d->parameters[n] = ended(d, start);
        if (!d->parameters[n++])
            return;
    }
    d->method.parameters = d->parameters;
    d->method.n_parameters = n;
}

/* Appends the name of the attribute's type: the type that owns the constructor it names. */
static void put_attribute(struct matcher *m, struct described *d, mdCustomAttribute attribute)
{
    IMetaDataImport2 *imp = m->imp;
    mdToken           ctor = 0, owner = 0;
    size_t            start = d->text.len;
    HRESULT           hr;
    if (d->method.n_attributes == MAX_ATTRIBUTES)
        return;
    hr = imp->vtbl->GetCustomAttributeProps(imp, attribute, NULL, &ctor, NULL, NULL);
    if (SUCCEEDED(hr) && TABLE(ctor) == MEMBER_REF)
        hr = imp->vtbl->GetMemberRefProps(imp, ctor, &owner, NULL, 0, NULL, NULL, NULL);
    else if (SUCCEEDED(hr))
        hr = imp->vtbl->GetMethodProps(imp, ctor, &owner, NULL, 0, NULL, NULL, NULL, NULL, NULL,
                                       NULL);
    if (FAILED(hr)) {
        d->unsure = 1;
        return;
    }
    put_type_name(imp, &d->text, owner);
    d->attributes[d->method.n_attributes] = ended(d, start);
    if (d->attributes[d->method.n_attributes])
        d->method.n_attributes++;
}

static void put_attributes(struct matcher *m, struct described *d, mdToken of)
{
    HCORENUM          all = NULL;
    mdCustomAttribute some[BATCH];
    ULONG             n = 0;
    HRESULT           hr;
    while (
        SUCCEEDED(hr = m->imp->vtbl->EnumCustomAttributes(m->imp, &all, of, 0, some, BATCH, &n)) &&
        n)
        for (ULONG i = 0; i < n; i++)
            put_attribute(m, d, some[i]);
    d->unsure |= FAILED(hr);
    m->imp->vtbl->CloseEnum(m->imp, all);
}

/* Abstract methods, native ones, and those that the runtime implements have no IL. */
static int has_il(DWORD flags, DWORD impl)
{
    return !(flags & (METHOD_ABSTRACT | METHOD_PINVOKE)) &&
           !(impl & (IMPL_CODE_MASK | IMPL_UNMANAGED | IMPL_INTERNAL_CALL));
}

static int describe_method(struct matcher *m, struct described *d, mdToken method, const char *type)
{
    WCHAR          wide[1024] = {0};
    ULONG          n = 0, size = 0;
    const uint8_t *sig = NULL;
    mdToken        owner = 0;
    DWORD          flags = 0, impl = 0;
    if (FAILED(m->imp->vtbl->GetMethodProps(m->imp, method, &owner, wide, ARRAY_LEN(wide), &n,
                                            &flags, &sig, &size, NULL, &impl)))
        return -1;
    d->has_il = has_il(flags, impl);
    d->unsure = 0;
    sxs_utf8_of(wide, ARRAY_LEN(wide), d->name, sizeof(d->name));
    d->text = sxs_text_counted(d->spelled, sizeof(d->spelled));
    d->method = (struct sxs_config_method){.runtime = m->runtime,
                                           .assembly = m->tokens.own_name,
                                           .version = &m->version,
                                           .type = type,
                                           .method = d->name,
                                           .attributes = d->attributes};
    put_parameters(m, d, sig, size);
    if (m->with_attributes) {
        put_attributes(m, d, method);
        put_attributes(m, d, owner);
    }
    return 0;
}

/* ---- state machines --------------------------------------------------------------------------- */

/* Whether an attribute of @method names the type @name as the method's state machine. */
static int is_made_from(struct matcher *m, mdToken method, const char *name)
{
#define KIND(name) u"" name,
    static const WCHAR *const kinds[] = {SXS_MACHINE_ATTRIBUTES(KIND)};
#undef KIND
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const void *bytes = NULL;
        ULONG       size = 0;
        HRESULT     hr =
            m->imp->vtbl->GetCustomAttributeByName(m->imp, method, kinds[i], &bytes, &size);
        m->unsure |= FAILED(hr);
        if (hr == S_OK && bytes && sxs_machine_named((struct sxs_blob){bytes, size}, name))
            return 1;
    }
    return 0;
}

/* Returns the method that the compiler made the current type from. 0: none, or, with m->unsure set,
 * not all methods could be read. */
static mdToken made_from(struct matcher *m)
{
    HCORENUM    all = NULL;
    mdMethodDef methods[BATCH];
    ULONG       n = 0;
    mdToken     found = 0;
    HRESULT     hr = S_OK;
    m->unsure = 0;
    if (!m->outer || !sxs_machine_possible(m->type))
        return 0;
    while (!found &&
           SUCCEEDED(hr = m->imp->vtbl->EnumMethods(m->imp, &all, m->outer, methods, BATCH, &n)) &&
           n)
        for (ULONG i = 0; i < n && !found; i++)
            if (is_made_from(m, methods[i], m->type))
                found = methods[i];
    m->imp->vtbl->CloseEnum(m->imp, all);
    if (found)
        m->unsure = 0;
    m->unsure |= FAILED(hr);
    return found;
}

/* ---- all -------------------------------------------------------------------------------------- */

/* Writes the parameter list, as in `(System.Int32, System.String)`. */
static void put_list(const struct sxs_config_method *method, char *out, size_t size)
{
    struct sxs_text t = sxs_text_counted(out, size);
    sxs_text_put(&t, "(");
    for (uint32_t i = 0; method->parameters && i < method->n_parameters; i++)
        sxs_text_putf(&t, i ? ", %s" : "%s", method->parameters[i]);
    sxs_text_put(&t, ")");
}

/* Records how near @method comes to each rule that has matched nothing so far. */
static void tell_of_method(struct matcher *m, const struct sxs_config_method *method)
{
    char list[256];
    for (uint32_t i = 0; i < m->config->n_rules; i++) {
        enum sxs_config_reach reach;
        if (!m->open[i])
            continue;
        reach = sxs_config_reach(m->config->rules[i], method);
        if (reach < SXS_REACH_TYPE)
            continue;
        put_list(method, list, sizeof(list));
        sxs_rule_stats_reach(m->config->rules[i], reach,
                             reach == SXS_REACH_TYPE ? method->method : list);
        m->open[i] = reach != SXS_REACH_ALL;
    }
}

/* Does the same for a type. @type NULL: for the assembly. */
static void tell_of_type(struct matcher *m, const char *type)
{
    const struct sxs_config_method method = {.runtime = m->runtime,
                                             .assembly = m->tokens.own_name,
                                             .version = &m->version,
                                             .type = type};
    for (uint32_t i = 0; i < m->config->n_rules; i++) {
        enum sxs_config_reach reach;
        if (!m->open[i])
            continue;
        reach = sxs_config_reach(m->config->rules[i], &method);
        if (reach != SXS_REACH_NOTHING)
            sxs_rule_stats_reach(m->config->rules[i], reach,
                                 reach == SXS_REACH_ASSEMBLY ? type : NULL);
    }
}

/* @from: the method that the type was made from as a state machine, described in m->made_from; 0:
 *        none. */
static void match_method(struct matcher *m, mdToken method, mdToken from)
{
    const struct sxs_rule *rules[SXS_INSTRUMENTED_RULES];
    char                   name[2 * NAME];
    size_t                 n;
    if (describe_method(m, &m->inner, method, m->type)) {
        m->to->unread(m->to->context, method);
        return;
    }
    if (from && sxs_machine_body(m->inner.name))
        m->inner.method.outer = &m->made_from.method;
    n = sxs_config_rules(m->config, &m->inner.method, rules, SXS_INSTRUMENTED_RULES);
    if (m->n_open && m->inner.has_il)
        tell_of_method(m, &m->inner.method);
    if (!n && (m->inner.unsure || m->unsure))
        m->to->unread(m->to->context, method);
    if (!n)
        return;
    snprintf(name, sizeof(name), "%s.%s", m->type, m->inner.name);
    n = n < SXS_INSTRUMENTED_RULES ? n : SXS_INSTRUMENTED_RULES;
    if (m->inner.has_il)
        m->to->found(m->to->context, method, m->tokens.own_name, name, rules, n);
    for (size_t i = 0; i < n && !m->inner.has_il; i++)
        sxs_rule_stats_without_il(rules[i], name);
}

static void match_methods(struct matcher *m, mdToken type)
{
    HCORENUM    all = NULL;
    mdMethodDef methods[BATCH];
    ULONG       n = 0;
    mdToken     from = made_from(m);
    HRESULT     hr;
    if (from && describe_method(m, &m->made_from, from, m->outer_type)) {
        from = 0;
        m->unsure = 1;
    }
    m->unsure |= from && m->made_from.unsure;
    while (SUCCEEDED(hr = m->imp->vtbl->EnumMethods(m->imp, &all, type, methods, BATCH, &n)) && n)
        for (ULONG i = 0; i < n; i++)
            match_method(m, methods[i], from);
    m->failed |= FAILED(hr);
    m->imp->vtbl->CloseEnum(m->imp, all);
}

static int may_match(const struct matcher *m, const char *type)
{
    for (uint32_t i = 0; i < m->config->n_rules; i++)
        if (sxs_config_may_match(m->config->rules[i], m->runtime, m->tokens.own_name, &m->version,
                                 type))
            return 1;
    return 0;
}

static void match_type(struct matcher *m, mdToken type)
{
    m->outer = 0;
    m->outer_type[0] = '\0';
    if (get_type_name(m->imp, type, m->type, sizeof(m->type)) ||
        (strchr(m->type, '+') &&
         (FAILED(m->imp->vtbl->GetNestedClassProps(m->imp, type, &m->outer)) ||
          get_type_name(m->imp, m->outer, m->outer_type, sizeof(m->outer_type))))) {
        m->failed = 1;
        return;
    }
    if (m->n_open)
        tell_of_type(m, m->type);
    if (may_match(m, m->type) || (m->outer && may_match(m, m->outer_type)))
        match_methods(m, type);
}

/* Modules without a manifest have no version: it is left 0.0.0.0 then. */
static int read_version(struct matcher *m)
{
    ASSEMBLYMETADATA         data = {0};
    mdAssembly               own = 0;
    IMetaDataAssemblyImport *imp = m->tokens.assemblies;
    HRESULT                  hr = imp->vtbl->GetAssemblyFromScope(imp, &own);
    if (SUCCEEDED(hr))
        hr = imp->vtbl->GetAssemblyProps(imp, own, NULL, NULL, NULL, NULL, 0, NULL, &data, NULL);
    m->version = (struct sxs_version){
        {data.usMajorVersion, data.usMinorVersion, data.usBuildNumber, data.usRevisionNumber}};
    return SUCCEEDED(hr) || hr == CLDB_E_RECORD_NOTFOUND ? 0 : -1;
}

static void match_types(struct matcher *m)
{
    HCORENUM  all = NULL;
    mdTypeDef types[BATCH];
    ULONG     n = 0;
    HRESULT   hr;
    while (SUCCEEDED(hr = m->imp->vtbl->EnumTypeDefs(m->imp, &all, types, BATCH, &n)) && n)
        for (ULONG i = 0; i < n; i++)
            match_type(m, types[i]);
    m->imp->vtbl->CloseEnum(m->imp, all);
    m->failed |= FAILED(hr);
    get_type_name(m->imp, MODULE_TYPE, m->type, sizeof(m->type));
    /* EnumTypeDefs leaves out <Module>, the type of global methods. */
    if (SUCCEEDED(hr) && strcmp(m->type, "<Module>") == 0)
        match_type(m, MODULE_TYPE);
}

/* Finds the rules that have matched nothing so far. Without memory no statistics of rules are
 * recorded; the search goes on. */
static void find_open(struct matcher *m)
{
    m->open = calloc(m->config->n_rules, 1);
    if (!m->open)
        return;
    for (uint32_t i = 0; i < m->config->n_rules; i++) {
        m->open[i] = (uint8_t)sxs_rule_stats_wants(m->config->rules[i]);
        m->n_open += m->open[i];
    }
    if (m->n_open)
        tell_of_type(m, NULL);
}

static int search_module(struct matcher *m)
{
    for (uint32_t i = 0; i < m->config->n_rules; i++)
        m->with_attributes |= sxs_config_wants_attributes(m->config->rules[i]);
    if (read_version(m))
        m->failed = 1;
    else if (may_match(m, NULL)) {
        find_open(m);
        match_types(m);
    }
    if (m->failed)
        sxs_warn("tool instrument: runtime %u (%s): the metadata of %s cannot be searched: its "
                 "methods keep the rules they have",
                 sxs_runtime_number(m->tokens.module.rt), m->runtime,
                 m->tokens.own_name[0] ? m->tokens.own_name : "a module");
    sxs_rule_stats_record();
    return m->failed ? -1 : 0;
}

int sxs_match_module(sxs_module module, const struct sxs_config *config,
                     const struct sxs_match_to *to)
{
    struct matcher *m;
    int             err;
    if (!config->n_rules)
        return 0;
    m = calloc(1, sizeof(*m));
    if (!m || FAILED(sxs_tokens_open(&m->tokens, module))) {
        free(m);
        return -1;
    }
    m->imp = m->tokens.import;
    m->config = config;
    m->runtime = sxs_runtime_version(module.rt);
    m->to = to;
    err = search_module(m);
    sxs_tokens_close(&m->tokens);
    free(m->open);
    free(m);
    return err;
}
