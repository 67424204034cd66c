/* SPDX-License-Identifier: MIT */
#include "instr/weave/definition.h"

#include <string.h>

#include "instr/metadata/signature_text.h"
#include "instr/weave/nearest.h"

#define FORWARDS_MAX   8
#define BASES_MAX      64
#define NESTED_MAX     16
#define NODES_MAX      512
#define CANDIDATES_MAX 4
#define NAME           1024

/* ---- names ------------------------------------------------------------------------------------ */

static const char *cell_text(const struct sxs_metadata *md, enum sxs_table table, uint32_t row,
                             unsigned column)
{
    return sxs_md_string(md, sxs_md_cell(md, table, row, column));
}

static void put_qualified(struct sxs_text *t, const char *space, const char *name)
{
    if (*space) {
        sxs_il_put_name(t, space);
        sxs_text_put(t, ".");
    }
    sxs_il_put_name(t, name);
}

static void put_def(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token,
                    unsigned depth)
{
    uint32_t row = token & 0xffffff, outer = sxs_md_enclosing(md, token);
    if (outer && depth < NESTED_MAX) {
        put_def(md, t, outer, depth + 1);
        sxs_text_put(t, "/");
    }
    put_qualified(t, cell_text(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAMESPACE),
                  cell_text(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAME));
}

static void put_ref(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token,
                    unsigned depth)
{
    uint32_t row = token & 0xffffff;
    uint32_t scope = sxs_md_cell(md, SXS_TABLE_TYPE_REF, row, SXS_TYPE_REF_SCOPE);
    if (scope >> 24 == SXS_TABLE_TYPE_REF && depth < NESTED_MAX) {
        put_ref(md, t, scope, depth + 1);
        sxs_text_put(t, "/");
    }
    put_qualified(t, cell_text(md, SXS_TABLE_TYPE_REF, row, SXS_TYPE_REF_NAMESPACE),
                  cell_text(md, SXS_TABLE_TYPE_REF, row, SXS_TYPE_REF_NAME));
}

static void put_token(void *context, struct sxs_text *t, uint32_t token)
{
    if (token >> 24 == SXS_TABLE_TYPE_DEF)
        put_def(context, t, token, 0);
    else if (token >> 24 == SXS_TABLE_TYPE_REF)
        put_ref(context, t, token, 0);
}

void sxs_definition_put_type(const struct sxs_image *image, struct sxs_text *t, uint32_t type)
{
    put_def(&image->md, t, type, 0);
}

int sxs_definition_put_signature(struct sxs_text *t, const uint8_t *bytes, size_t size,
                                 void (*put)(void *context, struct sxs_text *t, uint32_t token),
                                 void *context, uint32_t *n_params)
{
    struct sxs_il_type_names names = {put, context};
    struct sxs_sig_node      nodes[NODES_MAX];
    struct sxs_sig           sig;
    int                      is_field = size && (bytes[0] & 0xf) == 0x06;
    if (sxs_sig_parse(is_field ? SXS_SIG_FIELD : SXS_SIG_METHOD, bytes, size, nodes, NODES_MAX,
                      &sig))
        return -1;
    *n_params = is_field ? 0 : sig.n_params;
    if (!is_field)
        sxs_sig_put_convention(t, sig.convention);
    sxs_sig_put_type(t, &sig, sig.result, &names);
    if (is_field)
        return 0;
    sxs_text_put(t, " ");
    if (sig.n_generic)
        sxs_text_putf(t, "<%u>", sig.n_generic);
    sxs_sig_put_parameters(t, &sig, &names);
    return 0;
}

/* ---- types ------------------------------------------------------------------------------------ */

static int is_named(const char *space, const char *name, const char *wanted, size_t len)
{
    size_t at = strlen(space), n = strlen(name);
    if (!at)
        return len == n && !memcmp(wanted, name, n);
    return len == at + 1 + n && !memcmp(wanted, space, at) && wanted[at] == '.' &&
           !memcmp(wanted + at + 1, name, n);
}

static int is_nested(const struct sxs_metadata *md, uint32_t row)
{
    return (sxs_md_cell(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_FLAGS) & 7) >= 2;
}

static uint32_t find_outermost(const struct sxs_metadata *md, const char *name, size_t len)
{
    uint32_t n = sxs_md_rows(md, SXS_TABLE_TYPE_DEF);
    for (uint32_t row = 1; row <= n; row++)
        if (is_named(cell_text(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAMESPACE),
                     cell_text(md, SXS_TABLE_TYPE_DEF, row, SXS_TYPE_DEF_NAME), name, len) &&
            !is_nested(md, row))
            return sxs_token(SXS_TABLE_TYPE_DEF, row);
    return 0;
}

static uint32_t find_nested(const struct sxs_metadata *md, uint32_t outer, const char *name,
                            size_t len)
{
    uint32_t n = sxs_md_rows(md, SXS_TABLE_NESTED_CLASS);
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t type = sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, row, SXS_NESTED_CLASS_NESTED);
        if (sxs_md_cell(md, SXS_TABLE_NESTED_CLASS, row, SXS_NESTED_CLASS_ENCLOSING) == outer &&
            is_named(cell_text(md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_NAMESPACE),
                     cell_text(md, SXS_TABLE_TYPE_DEF, type & 0xffffff, SXS_TYPE_DEF_NAME), name,
                     len))
            return type;
    }
    return 0;
}

/* Returns the assembly that the type @name is forwarded to. NULL: it is not forwarded. */
static const char *forwarded(const struct sxs_metadata *md, const char *name, size_t len)
{
    uint32_t n = sxs_md_rows(md, SXS_TABLE_EXPORTED_TYPE);
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t in = sxs_md_cell(md, SXS_TABLE_EXPORTED_TYPE, row, SXS_EXPORTED_TYPE_IN);
        if (in >> 24 == SXS_TABLE_ASSEMBLY_REF &&
            is_named(cell_text(md, SXS_TABLE_EXPORTED_TYPE, row, SXS_EXPORTED_TYPE_NAMESPACE),
                     cell_text(md, SXS_TABLE_EXPORTED_TYPE, row, SXS_EXPORTED_TYPE_NAME), name,
                     len))
            return cell_text(md, SXS_TABLE_ASSEMBLY_REF, in & 0xffffff, SXS_ASSEMBLY_REF_NAME);
    }
    return NULL;
}

static void say_no_assembly(struct sxs_images *images, const char *assembly, struct sxs_text *why)
{
    sxs_text_putf(why, "assembly %s is not loaded and not found in ", assembly);
    sxs_images_put_folders(images, why);
}

/* Writes that there is no type @name, and which similar names there are. */
static void say_no_type(const struct sxs_image *image, const char *name, struct sxs_text *why)
{
    const struct sxs_metadata *md = &image->md;
    struct sxs_nearest         near;
    char                       text[NAME];
    sxs_nearest_begin(&near, name);
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_TYPE_DEF); row++) {
        struct sxs_text t = sxs_text_counted(text, sizeof(text));
        put_def(md, &t, sxs_token(SXS_TABLE_TYPE_DEF, row), 0);
        sxs_nearest_try(&near, text);
    }
    for (uint32_t row = 1; row <= sxs_md_rows(md, SXS_TABLE_EXPORTED_TYPE); row++) {
        struct sxs_text t = sxs_text_counted(text, sizeof(text));
        put_qualified(&t, cell_text(md, SXS_TABLE_EXPORTED_TYPE, row, SXS_EXPORTED_TYPE_NAMESPACE),
                      cell_text(md, SXS_TABLE_EXPORTED_TYPE, row, SXS_EXPORTED_TYPE_NAME));
        sxs_nearest_try(&near, text);
    }
    sxs_text_putf(why, "there is no type %s in %s", name, image->path ? image->path : image->name);
    sxs_nearest_put(&near, why);
}

static enum sxs_found find_in(const struct sxs_image *image, const char *name,
                              struct sxs_definition *out, struct sxs_text *why)
{
    size_t   len = strcspn(name, "/");
    uint32_t type = find_outermost(&image->md, name, len);
    for (const char *part = name + len; type && *part; part += len) {
        part++;
        len = strcspn(part, "/");
        type = find_nested(&image->md, type, part, len);
    }
    if (!type) {
        say_no_type(image, name, why);
        return SXS_FOUND_NOT;
    }
    *out = (struct sxs_definition){image, type, 0, 0};
    return SXS_FOUND;
}

enum sxs_found sxs_definition_type(struct sxs_images *images, const char *assembly,
                                   const char *name, struct sxs_definition *out,
                                   struct sxs_text *why)
{
    for (unsigned i = 0; i < FORWARDS_MAX; i++) {
        const struct sxs_image *image = sxs_images_find(images, assembly);
        const char             *to;
        if (!image) {
            say_no_assembly(images, assembly, why);
            return SXS_FOUND_NOT;
        }
        if (!image->readable && !image->id) {
            sxs_text_putf(why, "%s is no assembly", image->path);
            return SXS_FOUND_NOT;
        }
        if (!image->readable)
            return SXS_FOUND_UNKNOWN;
        to = forwarded(&image->md, name, strcspn(name, "/"));
        if (!to)
            return find_in(image, name, out, why);
        assembly = to;
    }
    return SXS_FOUND_UNKNOWN;
}

/* ---- members ---------------------------------------------------------------------------------- */

/* The rows of a type's fields or methods. */
struct row_range {
    enum sxs_table table;
    uint32_t       first, end; /* rows; end is not included */
};

static struct row_range members_of(const struct sxs_metadata *md, uint32_t type, int fields)
{
    unsigned         column = fields ? SXS_TYPE_DEF_FIELDS : SXS_TYPE_DEF_METHODS;
    uint32_t         row = type & 0xffffff;
    struct row_range r = {fields ? SXS_TABLE_FIELD : SXS_TABLE_METHOD_DEF, 0, 0};
    r.first = sxs_md_cell(md, SXS_TABLE_TYPE_DEF, row, column) & 0xffffff;
    r.end = row < sxs_md_rows(md, SXS_TABLE_TYPE_DEF)
                ? sxs_md_cell(md, SXS_TABLE_TYPE_DEF, row + 1, column) & 0xffffff
                : sxs_md_rows(md, r.table) + 1;
    return r;
}

static const char *member_name(const struct sxs_metadata *md, enum sxs_table table, uint32_t row)
{
    return cell_text(md, table, row,
                     table == SXS_TABLE_FIELD ? SXS_FIELD_NAME : SXS_METHOD_DEF_NAME);
}

static int put_signature(const struct sxs_metadata *md, struct sxs_text *t, uint32_t token,
                         uint32_t *n_params)
{
    struct sxs_blob b = sxs_md_signature(md, token);
    return sxs_definition_put_signature(t, b.at, b.size, put_token, (void *)(uintptr_t)md,
                                        n_params);
}

static enum sxs_found find_member(struct sxs_definition *d, const struct sxs_wanted *wanted)
{
    const struct sxs_metadata *md = &d->image->md;
    struct row_range           r = members_of(md, d->type, wanted->is_field);
    char                       text[NAME] = "";
    for (uint32_t row = r.first; row && row < r.end; row++) {
        uint32_t           token = sxs_token(r.table, row), n;
        struct sxs_text    t = sxs_text_counted(text, sizeof(text));
        if (strcmp(member_name(md, r.table, row), wanted->name) != 0 ||
            put_signature(md, &t, token, &n))
            continue;
        if (d->inherited ? n != wanted->n_params : strcmp(text, wanted->text) != 0)
            continue;
        d->member = token;
        return SXS_FOUND;
    }
    return SXS_FOUND_NOT;
}

/* Returns the token of the type that *d derives from; 0: none. For a generic base type this is the
 * open type; d->inherited is set, so that signatures of its members are not compared. */
static uint32_t base_token(struct sxs_definition *d)
{
    const struct sxs_metadata *md = &d->image->md;
    struct sxs_sig_node        nodes[NODES_MAX];
    struct sxs_sig             sig;
    struct sxs_blob            b;
    uint32_t                   token =
        sxs_md_cell(md, SXS_TABLE_TYPE_DEF, d->type & 0xffffff, SXS_TYPE_DEF_EXTENDS);
    if (token >> 24 != SXS_TABLE_TYPE_SPEC)
        return token & 0xffffff ? token : 0;
    b = sxs_md_signature(md, token);
    if (sxs_sig_parse(SXS_SIG_TYPE, b.at, b.size, nodes, NODES_MAX, &sig) ||
        nodes[sig.result].element != SXS_ELEMENT_GENERICINST)
        return 0;
    d->inherited = 1;
    return nodes[nodes[sig.result].child].value;
}

enum sxs_found sxs_definition_base(struct sxs_images *images, struct sxs_definition *d)
{
    const struct sxs_metadata *md = &d->image->md;
    uint32_t                   token = base_token(d), scope;
    char                       name[NAME], none[8];
    struct sxs_text            t = sxs_text_counted(name, sizeof(name)),
                    why = sxs_text_counted(none, sizeof(none));
    int                        inherited = d->inherited;
    enum sxs_found             found;
    if (token >> 24 == SXS_TABLE_TYPE_DEF) {
        d->type = token;
        return SXS_FOUND;
    }
    if (token >> 24 != SXS_TABLE_TYPE_REF)
        return SXS_FOUND_NOT;
    put_ref(md, &t, token, 0);
    for (scope = token; scope >> 24 == SXS_TABLE_TYPE_REF;)
        scope = sxs_md_cell(md, SXS_TABLE_TYPE_REF, scope & 0xffffff, SXS_TYPE_REF_SCOPE);
    if (scope >> 24 != SXS_TABLE_ASSEMBLY_REF)
        return SXS_FOUND_UNKNOWN;
    found = sxs_definition_type(
        images, cell_text(md, SXS_TABLE_ASSEMBLY_REF, scope & 0xffffff, SXS_ASSEMBLY_REF_NAME),
        name, d, &why);
    d->inherited = inherited;
    return found == SXS_FOUND_NOT ? SXS_FOUND_UNKNOWN : found;
}

/* Writes the overloads, those with the wanted number of parameters first. Returns their number. */
static unsigned put_overloads(const struct sxs_definition *d, const struct sxs_wanted *wanted,
                              struct sxs_text *why)
{
    const struct sxs_metadata *md = &d->image->md;
    struct row_range           r = members_of(md, d->type, wanted->is_field);
    char                       text[NAME];
    unsigned                   n = 0;
    for (int as_many = 1; as_many >= 0; as_many--)
        for (uint32_t row = r.first, n_params = 0; row && row < r.end; row++) {
            struct sxs_text t = sxs_text_counted(text, sizeof(text));
            if (strcmp(member_name(md, r.table, row), wanted->name) != 0 ||
                put_signature(md, &t, sxs_token(r.table, row), &n_params) ||
                (n_params == wanted->n_params) != as_many)
                continue;
            if (n++ < CANDIDATES_MAX)
                sxs_text_putf(why, "%s%s", n > 1 ? "; " : "; there is ", text);
        }
    if (n > CANDIDATES_MAX)
        sxs_text_putf(why, " and %u more", n - CANDIDATES_MAX);
    return n;
}

/* Writes that there is no such member, and the members of the same or of a similar name. */
static void say_no_member(const struct sxs_definition *d, const struct sxs_wanted *wanted,
                          struct sxs_text *why)
{
    struct row_range   r = members_of(&d->image->md, d->type, wanted->is_field);
    struct sxs_nearest near;
    sxs_text_putf(why, "there is no %s %s, %s, in ", wanted->is_field ? "field" : "method",
                  wanted->name, wanted->text);
    put_def(&d->image->md, why, d->type, 0);
    sxs_text_putf(why, " of %s", d->image->name);
    if (put_overloads(d, wanted, why))
        return;
    sxs_nearest_begin(&near, wanted->name);
    for (uint32_t row = r.first; row && row < r.end; row++)
        sxs_nearest_try(&near, member_name(&d->image->md, r.table, row));
    sxs_nearest_put(&near, why);
}

enum sxs_found sxs_definition_member(struct sxs_images *images, struct sxs_definition *d,
                                     const struct sxs_wanted *wanted, struct sxs_text *why)
{
    struct sxs_definition at = *d;
    enum sxs_found        found = SXS_FOUND_NOT;
    for (unsigned i = 0; i < BASES_MAX && found == SXS_FOUND_NOT; i++) {
        found = find_member(&at, wanted);
        if (found == SXS_FOUND || *wanted->name == '.') /* constructors are not inherited */
            break;
        found = sxs_definition_base(images, &at);
        if (found != SXS_FOUND)
            break;
        found = SXS_FOUND_NOT;
    }
    if (found == SXS_FOUND)
        *d = at;
    else if (found == SXS_FOUND_NOT)
        say_no_member(d, wanted, why);
    return found;
}
