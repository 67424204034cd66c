/* SPDX-License-Identifier: MIT */
#include "instr/weave/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "symbols/type_name.h"

#define NAME         1024
#define NODES_MAX    256
#define TABLE(token) ((token) >> 24)
enum { METHOD_STATIC = 0x10, METHOD_ABSTRACT = 0x400, FIELD_STATIC = 0x10, FIELD_LITERAL = 0x40 };
enum { TYPE_INTERFACE = 0x20, TYPE_ABSTRACT = 0x80 };

/* ---- names of the module's own tokens --------------------------------------------------------- */

/* Writes the name of a TypeDef or TypeRef as in `Namespace.Outer/Inner`. */
static void put_type(void *context, struct sxs_text *t, uint32_t token)
{
    static const struct sxs_type_style style = {.nested = "/", .put = sxs_il_put_name};
    struct sxs_type_source             from = sxs_types_of_import(context);
    if (TABLE(token) == SXS_TABLE_TYPE_DEF || TABLE(token) == SXS_TABLE_TYPE_REF)
        sxs_type_put(t, &from, &style, token);
}

/* ---- tokens resolved so far ------------------------------------------------------------------- */

static struct sxs_resolved *find_resolved(struct sxs_resolver *r, uint32_t token)
{
    for (unsigned i = r->n; i-- > 0;)
        if (r->all[i].token == token)
            return &r->all[i];
    return NULL;
}

static void keep_resolved(struct sxs_resolver *r, const struct sxs_resolved *what)
{
    if (r->n < SXS_RESOLVED_MAX)
        r->all[r->n++] = *what;
}

/* Returns the place for the reason of a refusal: the method's tokens.error, emptied. */
static struct sxs_text reason_of(struct sxs_resolver *r)
{
    struct sxs_text t = sxs_text_counted(r->m->tokens.error, sizeof(r->m->tokens.error));
    t.bytes[0] = '\0';
    return t;
}

static uint32_t type_flags(const struct sxs_definition *d)
{
    return sxs_md_cell(&d->image->md, SXS_TABLE_TYPE_DEF, d->type & 0xffffff, SXS_TYPE_DEF_FLAGS);
}

/* ---- types ------------------------------------------------------------------------------------ */

static int own_type(struct sxs_resolver *r, uint32_t token)
{
    IMetaDataImport2   *imp = r->m->tokens.import;
    struct sxs_resolved what = {.token = token, .known = 1};
    DWORD               flags = 0;
    if (FAILED(imp->vtbl->GetTypeDefProps(imp, token, NULL, 0, NULL, &flags, NULL)))
        return 0;
    what.definition.type = token;
    what.flags = what.type_flags = flags;
    keep_resolved(r, &what);
    return 0;
}

/* Writes why the module has no type @name, and returns -1. */
static int no_own_type(struct sxs_resolver *r, const char *assembly, const char *name)
{
    const struct sxs_image *own = sxs_images_own(&r->images);
    struct sxs_text         why = reason_of(r);
    struct sxs_definition   d;
    if (!own || sxs_definition_type(&r->images, own->name, name, &d, &why) != SXS_FOUND_NOT) {
        why.len = 0;
        sxs_text_putf(&why, "there is no type %s in %s", name,
                      assembly ? assembly : r->m->tokens.own_name);
    }
    return -1;
}

static int resolve_type(void *context, const char *assembly, const char *name, uint32_t *token)
{
    struct sxs_resolver *r = context;
    struct sxs_resolved  what = {.known = 1};
    struct sxs_text      why = reason_of(r);
    enum sxs_found       found = SXS_FOUND_UNKNOWN;
    int                  own = sxs_tokens_is_own(&r->m->tokens, assembly);
    if (!own) {
        found = sxs_definition_type(&r->images, assembly, name, &what.definition, &why);
        if (found == SXS_FOUND)
            what.flags = what.type_flags = type_flags(&what.definition);
        r->depends |= found == SXS_FOUND_UNKNOWN;
        if (found == SXS_FOUND_NOT ||
            (found == SXS_FOUND && sxs_access_refused(r, &what, name, &why)))
            return -1;
    }
    if (r->tokens.type(r->tokens.context, assembly, name, token))
        return own ? no_own_type(r, assembly, name) : -1;
    if (find_resolved(r, *token))
        return 0;
    if (own)
        return own_type(r, *token);
    what.token = *token;
    if (found == SXS_FOUND)
        keep_resolved(r, &what);
    return 0;
}

static int type_spec(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    struct sxs_resolver       *r = context;
    struct sxs_sig_node        nodes[NODES_MAX];
    struct sxs_sig             tree;
    const struct sxs_resolved *open;
    struct sxs_resolved        what;
    int err = r->tokens.type_spec(r->tokens.context, sig, size, token);
    if (err || find_resolved(r, *token) ||
        sxs_sig_parse(SXS_SIG_TYPE, sig, size, nodes, NODES_MAX, &tree) ||
        nodes[tree.result].element != SXS_ELEMENT_GENERICINST)
        return err; /* others, such as arrays, have members that no metadata defines */
    open = find_resolved(r, nodes[nodes[tree.result].child].value);
    if (!open)
        return 0;
    what = *open;
    what.token = *token;
    keep_resolved(r, &what);
    return 0;
}

/* ---- members ---------------------------------------------------------------------------------- */

/* Reads the flags of a member into *what. */
static void describe_token(struct sxs_resolver *r, uint32_t token, struct sxs_resolved *what)
{
    IMetaDataImport2          *imp = r->m->tokens.import;
    const struct sxs_metadata *md = what->definition.image ? &what->definition.image->md : NULL;
    uint32_t                   row = what->definition.member & 0xffffff;
    DWORD                      flags = 0;
    HRESULT                    hr = S_OK;
    if (md)
        flags = what->is_field
                    ? sxs_md_cell(md, SXS_TABLE_FIELD, row, SXS_FIELD_FLAGS)
                    : sxs_md_cell(md, SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_FLAGS);
    else if (what->is_field)
        hr = imp->vtbl->GetFieldProps(imp, token, NULL, NULL, 0, NULL, &flags, NULL, NULL, NULL,
                                      NULL, NULL);
    else
        hr = imp->vtbl->GetMethodProps(imp, token, NULL, NULL, 0, NULL, &flags, NULL, NULL, NULL,
                                       NULL);
    what->flags = flags;
    what->known = SUCCEEDED(hr);
}

static int refuse_access(struct sxs_resolver *r, const struct sxs_resolved *what, const char *name)
{
    struct sxs_text why = reason_of(r);
    if (!sxs_access_refused(r, what, name, &why)) {
        why.bytes[0] = '\0';
        return 0;
    }
    return -1;
}

/* The module's metadata has no such member. Writes which similar ones it has, and returns -1. */
static int no_own_member(struct sxs_resolver *r, uint32_t owner, const struct sxs_wanted *wanted)
{
    const struct sxs_image *own = sxs_images_own(&r->images);
    struct sxs_definition   d = {own, owner ? owner : sxs_token(SXS_TABLE_TYPE_DEF, 1), 0, 0};
    char                    text[sizeof(r->m->tokens.error)];
    struct sxs_text         why = sxs_text_counted(text, sizeof(text));
    enum sxs_found          found;
    if (!own)
        return -1;
    found = sxs_definition_member(&r->images, &d, wanted, &why);
    if (found == SXS_FOUND) {
        sxs_text_putf(&why, "%s is a member of ", wanted->name);
        sxs_definition_put_type(d.image, &why, d.type);
        sxs_text_putf(&why, " of %s: write that", d.image->name);
    }
    if (found != SXS_FOUND_UNKNOWN)
        memcpy(r->m->tokens.error, text, sizeof(text));
    return -1;
}

static int resolve_member(void *context, uint32_t owner, const char *name, const uint8_t *sig,
                          size_t size, uint32_t *token)
{
    struct sxs_resolver *r = context;
    char                 text[NAME];
    struct sxs_text      t = sxs_text_counted(text, sizeof(text));
    struct sxs_wanted    wanted = {name, text, 0, size && (sig[0] & 0xf) == 0x06};
    struct sxs_resolved  what = {.is_member = 1}, *of = find_resolved(r, owner);
    int can_tell = sxs_definition_put_signature(&t, sig, size, put_type, r->m->tokens.import,
                                                &wanted.n_params) == 0 &&
                   (sig[0] & 0xf) != 5; /* not for variable argument lists */
    if (of && of->definition.image && can_tell) {
        struct sxs_text why = reason_of(r);
        what.definition = of->definition;
        if (sxs_definition_member(&r->images, &what.definition, &wanted, &why) == SXS_FOUND_NOT)
            return -1;
    }
    if (r->tokens.member(r->tokens.context, owner, name, sig, size, token))
        return can_tell ? no_own_member(r, owner, &wanted) : -1;
    if (of && !of->definition.image)
        what.definition = of->definition; /* the type is needed for the check of private members */
    what.token = *token;
    what.is_field = (uint8_t)wanted.is_field;
    what.is_constructor = strcmp(name, ".ctor") == 0;
    what.type_flags = of ? of->type_flags : 0;
    if (what.definition.image ? what.definition.member != 0 : TABLE(*token) != SXS_TABLE_MEMBER_REF)
        describe_token(r, *token, &what);
    if (refuse_access(r, &what, name))
        return -1;
    keep_resolved(r, &what);
    return 0;
}

static int method_spec(void *context, uint32_t method, const uint8_t *sig, size_t size,
                       uint32_t *token)
{
    struct sxs_resolver       *r = context;
    const struct sxs_resolved *open = find_resolved(r, method);
    struct sxs_resolved        what;
    int err = r->tokens.method_spec(r->tokens.context, method, sig, size, token);
    if (err || !open)
        return err;
    what = *open;
    what.token = *token;
    keep_resolved(r, &what);
    return 0;
}

static int resolve_signature(void *context, const uint8_t *sig, size_t size, uint32_t *token)
{
    struct sxs_resolver *r = context;
    return r->tokens.signature(r->tokens.context, sig, size, token);
}

static int resolve_string(void *context, const uint16_t *units, size_t n, uint32_t *token)
{
    struct sxs_resolver *r = context;
    return r->tokens.string(r->tokens.context, units, n, token);
}

/* ---- use -------------------------------------------------------------------------------------- */

/* Returns why the instruction @opcode cannot take the member @what; NULL: it can. */
static const char *misuse(const struct sxs_resolved *what, enum sxs_il_opcode opcode)
{
    int is_static = (what->flags & METHOD_STATIC) != 0;
    switch (opcode) {
    case SXS_IL_NEWOBJ:
        if (!what->is_constructor)
            return "newobj takes a constructor";
        return what->type_flags & (TYPE_ABSTRACT | TYPE_INTERFACE)
                   ? "its type is abstract: there are no objects of it"
                   : NULL;
    case SXS_IL_CALLVIRT:
    case SXS_IL_LDVIRTFTN: return is_static ? "it is static: call takes it" : NULL;
    case SXS_IL_CALL:
        return what->flags & METHOD_ABSTRACT && !is_static ? "it is abstract: callvirt takes it"
                                                           : NULL;
    case SXS_IL_LDSFLD:
    case SXS_IL_LDSFLDA:
    case SXS_IL_STSFLD:
        if (what->flags & FIELD_LITERAL)
            return "it is a constant: there is no such field when code runs";
        return what->flags & FIELD_STATIC ? NULL : "it is a field of objects: ldfld, stfld take it";
    case SXS_IL_LDFLD:
    case SXS_IL_LDFLDA:
    case SXS_IL_STFLD: return is_static ? "it is static: ldsfld, stsfld take it" : NULL;
    default: return NULL;
    }
}

static int check_use(void *context, enum sxs_il_opcode opcode, uint32_t token)
{
    struct sxs_resolver       *r = context;
    const struct sxs_resolved *what = find_resolved(r, token);
    const char                *why = what && what->known && what->is_member ? misuse(what, opcode)
                                                                            : NULL;
    struct sxs_text            t = reason_of(r);
    if (!why)
        return 0;
    sxs_text_putf(&t, "%s: %s", sxs_il_opcodes[opcode].name, why);
    return -1;
}

/* ---- all -------------------------------------------------------------------------------------- */

struct sxs_resolver *sxs_resolver_new(struct sxs_method *m)
{
    struct sxs_resolver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->m = m;
    r->tokens = sxs_tokens_table(&m->tokens);
    sxs_images_begin(&r->images, m->tokens.module);
    return r;
}

void sxs_resolver_free(struct sxs_resolver *r)
{
    if (!r)
        return;
    sxs_images_end(&r->images);
    free(r);
}

struct sxs_il_tokens sxs_resolver_table(struct sxs_resolver *r)
{
    return (struct sxs_il_tokens){
        resolve_type,   type_spec, resolve_member, method_spec, resolve_signature,
        resolve_string, r,         check_use};
}
