/* SPDX-License-Identifier: MIT */
/* layout.c - builds layouts from the runtimes' answers. values/layout_table.c stores them. */
#include "values/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "instr/metadata/compressed.h"
#include "manager/module_info.h"
#include "symbols/type_name.h"
#include "values/layout_internal.h"

#define LEVELS_MAX 32
#define FIELDS_MAX 4096
#define ARGS_MAX   64
#define NAME_MAX_UTF16 1024

/* ---- the runtime's answers about a class ----------------------------------------------------- */

struct reported {
    sxs_class         cls, parent;
    sxs_module        module;
    mdTypeDef         token;
    ULONG32           n_args;
    ClassID           args[ARGS_MAX];
    IMetaDataImport2 *imp; /* owned */
};

static int ask_type(struct reported *t, sxs_class cls)
{
    memset(t, 0, sizeof(*t));
    t->cls = cls;
    t->parent.rt = t->module.rt = cls.rt;
    if (FAILED(sxs_info_GetClassIDInfo2(cls.rt, cls, &t->module, &t->token, &t->parent, ARGS_MAX,
                                        &t->n_args, t->args)) ||
        t->n_args > ARGS_MAX || !t->module.id)
        return -1;
    t->imp = sxs_module_import(t->module);
    return t->imp ? 0 : -1;
}

static void release_answers(struct reported *t)
{
    if (t->imp)
        t->imp->vtbl->Release(t->imp);
    t->imp = NULL;
}

/* Writes the name of the type @token as "Namespace.Outer`1+Inner". Returns its length. */
static size_t put_name(const struct reported *t, mdTypeDef token, char *out, size_t size)
{
    static const struct sxs_type_style style = {.nested = "+"};
    struct sxs_type_source             from = sxs_types_of_import(t->imp);
    struct sxs_text                    text = sxs_text_counted(out, size);
    if (sxs_type_put(&text, &from, &style, token) != 0)
        out[0] = '\0';
    return strlen(out);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static uint8_t primitive_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t     type;
    } known[] = {
        {"Boolean", ELEMENT_TYPE_BOOLEAN}, {"Char", ELEMENT_TYPE_CHAR}, {"SByte", ELEMENT_TYPE_I1},
        {"Byte", ELEMENT_TYPE_U1},         {"Int16", ELEMENT_TYPE_I2},  {"UInt16", ELEMENT_TYPE_U2},
        {"Int32", ELEMENT_TYPE_I4},        {"UInt32", ELEMENT_TYPE_U4}, {"Int64", ELEMENT_TYPE_I8},
        {"UInt64", ELEMENT_TYPE_U8},       {"Single", ELEMENT_TYPE_R4}, {"Double", ELEMENT_TYPE_R8},
        {"IntPtr", ELEMENT_TYPE_I},        {"UIntPtr", ELEMENT_TYPE_U}};
    if (strncmp(name, "System.", 7) == 0)
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            if (strcmp(name + 7, known[i].name) == 0)
                return known[i].type;
    return ELEMENT_TYPE_VALUETYPE;
}

/* Returns the element type of a class: CLASS, VALUETYPE or a primitive. @name: the class's name. */
static uint8_t type_of(const struct reported *t, const char *name)
{
    struct reported parent;
    char        base[64];
    uint8_t     type = ELEMENT_TYPE_CLASS;
    if (!t->parent.id || strcmp(name, "System.Enum") == 0 || ask_type(&parent, t->parent) != 0)
        return type;
    put_name(&parent, parent.token, base, sizeof(base));
    if (strcmp(base, "System.Enum") == 0)
        type = ELEMENT_TYPE_VALUETYPE;
    else if (strcmp(base, "System.ValueType") == 0)
        type = primitive_of(name);
    release_answers(&parent);
    return type;
}

/* Returns the element type of a type argument; ELEMENT_TYPE_END when it is not known. */
static uint8_t type_of_argument(sxs_class cls)
{
    struct reported t;
    char        name[NAME_MAX_UTF16];
    uint8_t     type;
    if (sxs_info_IsArrayClass(cls.rt, cls, NULL, NULL, NULL) == S_OK)
        return ELEMENT_TYPE_SZARRAY;
    if (ask_type(&t, cls) != 0)
        return ELEMENT_TYPE_END;
    put_name(&t, t.token, name, sizeof(name));
    type = strcmp(name, "System.String") == 0 ? ELEMENT_TYPE_STRING : type_of(&t, name);
    release_answers(&t);
    return type;
}

/* ---- signatures -------------------------------------------------------------------------------- */

/* Reads a compressed number and moves *at past it. Returns -1 if it is cut off. */
static int read_number(const uint8_t *sig, size_t size, size_t *at, uint32_t *out)
{
    unsigned n = *at < size ? sxs_compressed_read(sig + *at, sig + size, out) : 0;
    *at += n;
    return n ? 0 : -1;
}

int sxs_field_element(const uint8_t *sig, size_t size, size_t *after)
{
    size_t   at = 1;
    uint32_t skipped;
    if (!size || (sig[0] & 0x0f) != 0x06) /* FIELD */
        return -1;
    while (at < size && (sig[at] == ELEMENT_TYPE_CMOD_REQD || sig[at] == ELEMENT_TYPE_CMOD_OPT)) {
        at++;
        if (read_number(sig, size, &at, &skipped))
            return -1;
    }
    if (at >= size)
        return -1;
    *after = at + 1;
    return sig[at];
}

/* ---- a layout ---------------------------------------------------------------------------------- */

/* A layout that is being built. */
struct draft {
    struct sxs_field
        *fields; /* their texts lie in `text`; pointers are offsets until assemble_layout() */
    size_t            n, cap;
    char             *text;
    size_t            used, room;
};

/* Appends @bytes to the text. Returns their offset, or (size_t)-1 when there is no memory. */
static size_t keep_bytes(struct draft *d, const void *bytes, size_t size)
{
    size_t at = d->used;
    if (!size) /* @bytes and d->text may be NULL */
        return at;
    if (d->used + size > d->room) {
        size_t room = (d->used + size) * 2 + 256;
        char  *text = realloc(d->text, room);
        if (!text)
            return (size_t)-1;
        d->text = text;
        d->room = room;
    }
    memcpy(d->text + at, bytes, size);
    d->used += size;
    return at;
}

static int add_field(struct draft *d, const struct reported *t, const COR_FIELD_OFFSET *at)
{
    WCHAR             wide[NAME_MAX_UTF16] = {0};
    char              name[NAME_MAX_UTF16];
    ULONG             len = 0, size = 0;
    PCCOR_SIGNATURE   sig = NULL;
    struct sxs_field *f = &d->fields[d->n];
    size_t            after, name_at, sig_at;
    uint32_t          index;
    int               element;
    if (FAILED(t->imp->vtbl->GetFieldProps(t->imp, at->ridOfField, NULL, wide, NAME_MAX_UTF16 - 1,
                                           &len, NULL, &sig, &size, NULL, NULL, NULL)))
        return -1;
    name_at = keep_bytes(d, name, sxs_utf8_of(wide, ARRAY_LEN(wide), name, sizeof(name)) + 1);
    sig_at = keep_bytes(d, sig, size);
    if (name_at == (size_t)-1 || sig_at == (size_t)-1)
        return -1;
    element = sxs_field_element(sig, size, &after);
    *f = (struct sxs_field){.offset = at->ulOffset, .token = at->ridOfField, .in = t->cls.id,
                            .type = (uint8_t)(element < 0 ? ELEMENT_TYPE_END : element),
                            .signature_size = (uint32_t)size};
    if (element == ELEMENT_TYPE_GENERICINST && after < size)
        f->type = sig[after];
    if (element == ELEMENT_TYPE_VAR && !read_number(sig, size, &after, &index) && index < t->n_args) {
        f->cls = t->args[index];
        f->type = type_of_argument((sxs_class){t->cls.rt, f->cls});
    }
    f->name = (const char *)name_at; /* an offset, because the text may still move */
    f->signature = (const uint8_t *)sig_at;
    d->n++;
    return 0;
}

/* Adds the fields that the class @t itself declares. *size receives the size of the class. */
static int add_level(struct draft *d, const struct reported *t, ULONG *size)
{
    COR_FIELD_OFFSET *offsets;
    struct sxs_field *more;
    ULONG             n = 0;
    int               err = 0;
    if (FAILED(sxs_info_GetClassLayout(t->cls.rt, t->cls, NULL, 0, &n, size)) || n > FIELDS_MAX)
        return -1;
    if (!n)
        return 0;
    offsets = calloc(n, sizeof(*offsets));
    more = realloc(d->fields, (d->n + n) * sizeof(*more));
    if (more)
        d->fields = more;
    err = !offsets || !more ||
          FAILED(sxs_info_GetClassLayout(t->cls.rt, t->cls, offsets, n, &n, size));
    for (ULONG i = 0; i < n && !err; i++)
        err = add_field(d, t, &offsets[i]);
    free(offsets);
    return err ? -1 : 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct sxs_field *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct sxs_layout *assemble_layout(struct draft *d, const struct reported *t,
                                          const char *name, uint8_t type, ULONG size)
{
    size_t             name_size = strlen(name) + 1, args = t->n_args * sizeof(ClassID);
    size_t             fields = d->n * sizeof(struct sxs_field);
    struct sxs_layout *l = calloc(1, sizeof(*l) + fields + args + d->used + name_size);
    char              *text;
    if (!l)
        return NULL;
    text = (char *)l + sizeof(*l) + fields;
    memcpy(text, t->args, args);
    *l = (struct sxs_layout){.rt = t->cls.rt, .id = t->cls.id, .parent = t->parent.id,
                             .module = t->module.id, .token = t->token, .type = type,
                             .is_value = type != ELEMENT_TYPE_CLASS, .size = (uint32_t)size,
                             .n_args = t->n_args, .args = (const ClassID *)(void *)text,
                             .n_fields = (uint32_t)d->n};
    text += args;
    if (d->used)
        memcpy(text, d->text, d->used);
    l->name = memcpy(text + d->used, name, name_size);
    if (d->n) {
        qsort(d->fields, d->n, sizeof(*d->fields), by_offset);
        memcpy(l->fields, d->fields, fields);
    }
    for (size_t i = 0; i < d->n; i++) {
        struct sxs_field *f = &l->fields[i];
        uint32_t          end = i + 1 < d->n ? l->fields[i + 1].offset : l->size;
        f->name = text + (size_t)f->name;
        f->signature = (const uint8_t *)text + (size_t)f->signature;
        f->size = end > f->offset ? end - f->offset : 0;
    }
    return l;
}

static struct sxs_layout *build_layout(sxs_class cls)
{
    struct reported    t, at;
    struct draft       d = {0};
    struct sxs_layout *l = NULL;
    char               name[NAME_MAX_UTF16];
    ULONG              size = 0, ignored = 0;
    int                err = 0;
    if (ask_type(&t, cls) != 0)
        return NULL;
    put_name(&t, t.token, name, sizeof(name));
    err = add_level(&d, &t, &size);
    cls = t.parent;
    for (unsigned i = 0; !err && cls.id && i < LEVELS_MAX; i++) {
        err = ask_type(&at, cls);
        if (!err) {
            err = add_level(&d, &at, &ignored);
            cls = at.parent;
            release_answers(&at);
        }
    }
    if (!err)
        l = assemble_layout(&d, &t, name, type_of(&t, name), size);
    release_answers(&t);
    free(d.fields);
    free(d.text);
    return l;
}

int sxs_class_name(sxs_class cls, char *out, size_t size, sxs_module *module, mdTypeDef *token)
{
    struct reported t;
    if (ask_type(&t, cls) != 0)
        return -1;
    put_name(&t, t.token, out, size);
    if (module)
        *module = t.module;
    if (token)
        *token = t.token;
    release_answers(&t);
    return 0;
}

const struct sxs_layout *sxs_layout_get(sxs_class cls)
{
    const struct sxs_layout *l = sxs_layout_find(cls.rt, cls.id);
    struct sxs_layout       *fresh;
    if (l || !cls.id)
        return l;
    fresh = build_layout(cls);
    return fresh ? sxs_layout_keep(fresh) : NULL;
}
