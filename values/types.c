/* SPDX-License-Identifier: MIT */
/* types.c - loaded types, in two hash tables (by ID and by name) that hooks read without a lock. */
#include "values/types.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/session_state.h"
#include "manager/module_info.h"
#include "values/layout.h"
#include "values/line.h"

#define BUCKETS      8192u
#define NAME_SIZE    1024
/* Most fields of an enum that are read, including its value field; limited because a hook searches
 * them. */
#define LITERALS_MAX 512u
#define ARGS_MAX     64
#define FIELD_STATIC_LITERAL 0x40u
#define DEPTH_MAX    16

/* The open metadata of a module. */
struct scope {
    sxs_module        module;
    IMetaDataImport2 *imp; /* one reference */
};

static struct {
    /* Guards additions to the tables, scopes and depth. Held while runtimes are asked for
     * metadata. */
    pthread_mutex_t          lock;
    _Atomic(struct sxs_type *) by_id[BUCKETS], by_name[BUCKETS];
    struct scope            *scopes; /* owned */
    size_t                   n_scopes, cap_scopes;
    unsigned                 depth;  /* nesting of sxs_types_add_locked() */
} types = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(types.lock);
SXS_SESSION_KEEPS(types); /* hooks and code with new IL may still read it */

/* 1 while this thread holds the lock. A runtime may load a type while this thread asks about
 * another, and reports that load on this thread; then sxs_types_add() must not take the lock
 * again. */
static SXS_TLS int asking;

void sxs_types_lock(void)
{
    pthread_mutex_lock(&types.lock);
    asking = 1;
}

void sxs_types_unlock(void)
{
    asking = 0;
    pthread_mutex_unlock(&types.lock);
}

/* ---- tables ----------------------------------------------------------------------------------- */

static size_t bucket_of_id(ClassID id)
{
    return (size_t)(sxs_hash_id(id >> 3) >> 40) % BUCKETS;
}

static size_t bucket_of_name(const char *name)
{
    return (size_t)(sxs_hash_text(SXS_HASH_START, name) >> 20) % BUCKETS;
}

const struct sxs_type *sxs_types_find(const struct sxs_runtime *rt, ClassID id)
{
    const struct sxs_type *t =
        atomic_load_explicit(&types.by_id[bucket_of_id(id)], memory_order_acquire);
    for (; t; t = t->next_id)
        if (t->id == id && t->rt == rt && !atomic_load_explicit(&t->gone, memory_order_relaxed))
            return t;
    return NULL;
}

static const struct sxs_type *find_by_name(const struct sxs_type_desc *desc)
{
    const struct sxs_type *t, *found = NULL;
    t = atomic_load_explicit(&types.by_name[bucket_of_name(desc->name)], memory_order_acquire);
    for (; t; t = t->next_name) {
        if (t->rt != desc->rt || atomic_load_explicit(&t->gone, memory_order_relaxed) ||
            strcmp(t->name, desc->name) != 0)
            continue;
        if (t->module == desc->module)
            return t;
        if (found && found->module != t->module)
            return NULL;
        found = t;
    }
    return found;
}

const struct sxs_type *sxs_types_named(const struct sxs_runtime *rt, const char *name)
{
    struct sxs_type_desc desc = {.rt = rt, .name = name};
    return find_by_name(&desc);
}

ClassID sxs_types_canon(const struct sxs_runtime *rt)
{
    const struct sxs_type *t = sxs_types_named(rt, "System.__Canon");
    return t ? t->id : 0;
}

static void enlist_locked(struct sxs_type *t)
{
    _Atomic(struct sxs_type *) *by_id = &types.by_id[bucket_of_id(t->id)];
    _Atomic(struct sxs_type *) *by_name = &types.by_name[bucket_of_name(t->name)];
    t->next_id = atomic_load_explicit(by_id, memory_order_relaxed);
    t->next_name = atomic_load_explicit(by_name, memory_order_relaxed);
    atomic_store_explicit(by_name, t, memory_order_release);
    atomic_store_explicit(by_id, t, memory_order_release);
}

const struct sxs_type *sxs_type_desc_type(struct sxs_type_desc *desc)
{
    const struct sxs_type *t = atomic_load_explicit(&desc->type, memory_order_acquire);
    if (t && !atomic_load_explicit(&t->gone, memory_order_relaxed))
        return t;
    if (!desc->name)
        return NULL;
    t = find_by_name(desc);
    atomic_store_explicit(&desc->type, t, memory_order_release);
    return t;
}

uint32_t sxs_type_desc_size(struct sxs_type_desc *desc)
{
    const struct sxs_type *t;
    if (desc->element != SXS_ELEMENT_VALUETYPE)
        return sxs_element_size(desc->element);
    t = sxs_type_desc_type(desc);
    return t ? t->size : 0;
}

/* ---- metadata --------------------------------------------------------------------------------- */

IMetaDataImport2 *sxs_types_import_locked(sxs_module module)
{
    IUnknown *imp = NULL;
    for (size_t i = 0; i < types.n_scopes; i++)
        if (types.scopes[i].module.rt == module.rt && types.scopes[i].module.id == module.id)
            return types.scopes[i].imp;
    if (types.n_scopes == types.cap_scopes) {
        size_t        cap = types.cap_scopes ? types.cap_scopes * 2 : 32;
        struct scope *more = reallocarray(types.scopes, cap, sizeof(*more));
        if (!more)
            return NULL;
        types.scopes = more;
        types.cap_scopes = cap;
    }
    if (FAILED(sxs_info_GetModuleMetaData(module.rt, module, ofRead, &IID_IMetaDataImport2, &imp)))
        return NULL;
    types.scopes[types.n_scopes++] = (struct scope){module, (IMetaDataImport2 *)(void *)imp};
    return (IMetaDataImport2 *)(void *)imp;
}

void sxs_types_close(const struct sxs_runtime *rt)
{
    size_t n = 0;
    sxs_types_lock();
    for (size_t i = 0; i < types.n_scopes; i++) {
        if (types.scopes[i].module.rt != rt)
            types.scopes[n++] = types.scopes[i];
        else if (types.scopes[i].imp)
            types.scopes[i].imp->vtbl->Release(types.scopes[i].imp);
    }
    types.n_scopes = n;
    sxs_types_unlock();
}

void sxs_types_forget(sxs_class cls)
{
    struct sxs_type *t;
    sxs_types_lock();
    for (t = atomic_load(&types.by_id[bucket_of_id(cls.id)]); t; t = t->next_id)
        if (t->id == cls.id && t->rt == cls.rt)
            atomic_store(&t->gone, 1);
    sxs_types_unlock();
    sxs_layout_forget(cls);
}

/* ---- values ----------------------------------------------------------------------------------- */

static int starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static enum sxs_type_form form_of(const char *name)
{
    static const struct {
        const char        *name;
        enum sxs_type_form form;
    } known[] = {{"System.Decimal", SXS_FORM_DECIMAL}, {"System.DateTime", SXS_FORM_DATE},
                 {"System.TimeSpan", SXS_FORM_TIME_SPAN}, {"System.Guid", SXS_FORM_GUID}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].form;
    if (starts_with(name, "System.Nullable<"))
        return SXS_FORM_NULLABLE;
    return starts_with(name, "System.Span<") || starts_with(name, "System.ReadOnlySpan<")
               ? SXS_FORM_SPAN
               : SXS_FORM_FIELDS;
}

static void read_member(const struct sxs_layout *l, const struct sxs_field *f,
                        struct sxs_member *out)
{
    struct sxs_sig_node     nodes[64];
    struct sxs_sig          sig;
    const struct sxs_layout *in = f->in == l->id ? l : NULL;
    struct sxs_generic      context = {
             .module = {l->rt, in ? in->module : 0},
             .type_args = in ? in->args : NULL, .n_type_args = in ? in->n_args : 0};
    out->name = f->name;
    out->offset = f->offset;
    context.imp = context.module.id ? sxs_types_import_locked(context.module) : NULL;
    if (sxs_sig_parse(SXS_SIG_FIELD, f->signature, f->signature_size, nodes, ARRAY_LEN(nodes),
                      &sig) == 0)
        sxs_type_desc_read(&context, &sig, sig.result, &out->desc);
    else
        out->desc.name = "signature";
}

static void read_members(struct sxs_type *t, const struct sxs_layout *l)
{
    t->members = calloc(l->n_fields ? l->n_fields : 1, sizeof(*t->members));
    if (!t->members)
        return;
    for (uint32_t i = 0; i < l->n_fields; i++)
        read_member(l, &l->fields[i], &t->members[i]);
    t->n_members = l->n_fields;
}

static uint64_t read_constant(uint8_t element, const void *at)
{
    uint64_t value = 0;
    uint32_t size = sxs_element_size(element);
    if (at && size && size <= sizeof(value))
        memcpy(&value, at, size);
    return value;
}

static void read_literals(struct sxs_type *t, IMetaDataImport2 *imp, mdTypeDef token)
{
    HCORENUM   all = NULL;
    mdFieldDef fields[LITERALS_MAX];
    ULONG      n = 0;
    if (FAILED(imp->vtbl->EnumFields(imp, &all, token, fields, LITERALS_MAX, &n)))
        return;
    t->literals = calloc(n ? n : 1, sizeof(*t->literals));
    for (ULONG i = 0; i < n && t->literals; i++) {
        WCHAR          wide[256] = {0};
        char           name[512];
        ULONG          len = 0, ignored = 0;
        DWORD          attributes = 0, type = 0;
        UVCP_CONSTANT *value = NULL;
        if (FAILED(imp->vtbl->GetFieldProps(imp, fields[i], NULL, wide, ARRAY_LEN(wide) - 1, &len,
                                            &attributes, NULL, NULL, &type, (void *)&value,
                                            &ignored)) ||
            !(attributes & FIELD_STATIC_LITERAL))
            continue;
        sxs_line_utf8(wide, ARRAY_LEN(wide), name, sizeof(name));
        t->literals[t->n_literals].name = strdup(name);
        t->literals[t->n_literals].value = read_constant(t->element, value);
        t->n_literals += t->literals[t->n_literals].name != NULL;
    }
    imp->vtbl->CloseEnum(imp, all);
    t->is_flags = sxs_import_has_attribute(imp, token, u"System.FlagsAttribute");
}

static void read_value(struct sxs_type *t, sxs_class cls, IMetaDataImport2 *imp, mdTypeDef token,
                       int is_enum)
{
    const struct sxs_layout *l = sxs_layout_get(cls);
    t->kind = is_enum ? SXS_TYPE_ENUM : SXS_TYPE_STRUCT;
    t->element = sxs_primitive_element(t->name);
    if (!l)
        return;
    t->size = l->size;
    if (t->element) {
        t->kind = SXS_TYPE_PRIMITIVE;
        return;
    }
    t->form = form_of(t->name);
    if (is_enum) {
        t->element = l->n_fields ? l->fields[0].type : 0;
        read_literals(t, imp, token);
    } else {
        read_members(t, l);
    }
}

/* ---- a type ----------------------------------------------------------------------------------- */

static struct sxs_type *new_type(sxs_class cls, ModuleID module, const char *name)
{
    struct sxs_type *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->rt = cls.rt;
    t->id = cls.id;
    t->module = module;
    t->name = strdup(name);
    if (!t->name) {
        free(t);
        return NULL;
    }
    return t;
}

static struct sxs_type *array_locked(sxs_class cls)
{
    CorElementType         element = ELEMENT_TYPE_END;
    sxs_class              base = {NULL, 0};
    ULONG                  rank = 0;
    char                   name[NAME_SIZE];
    const struct sxs_type *of;
    const char            *word;
    struct sxs_line        line = sxs_line_in(name, sizeof(name));
    if (sxs_info_IsArrayClass(cls.rt, cls, &element, &base, &rank) != S_OK)
        return NULL;
    word = sxs_element_name((uint8_t)element);
    of = base.id ? sxs_types_add_locked((sxs_class){cls.rt, base.id}) : NULL;
    sxs_line_put(&line, of ? of->name : word ? word : "?");
    sxs_line_put(&line, "[");
    for (ULONG i = 1; i < rank && i < 32; i++)
        sxs_line_put(&line, ",");
    sxs_line_put(&line, "]");
    return new_type(cls, 0, name);
}

static struct sxs_type *class_locked(sxs_class cls)
{
    struct sxs_generic     in = {.depth = 0};
    ClassID                args[ARGS_MAX];
    ULONG32                n_args = 0;
    mdTypeDef              token = 0;
    sxs_class              parent = {cls.rt, 0};
    sxs_module             module = {cls.rt, 0};
    char                   name[NAME_SIZE];
    struct sxs_type       *t;
    const struct sxs_type *base;
    if (FAILED(sxs_info_GetClassIDInfo2(cls.rt, cls, &module, &token, &parent, ARGS_MAX, &n_args,
                                        args)) || !module.id || n_args > ARGS_MAX)
        return NULL;
    in.module = module;
    in.imp = sxs_types_import_locked(module);
    in.type_args = args;
    in.n_type_args = n_args;
    if (!in.imp)
        return NULL;
    sxs_name_of_typedef(&in, token, name, sizeof(name));
    base = parent.id ? sxs_types_add_locked(parent) : NULL;
    t = new_type(cls, module.id, name);
    if (!t)
        return NULL;
    if (strcmp(name, "System.String") == 0)
        t->kind = SXS_TYPE_STRING;
    else if (base && strcmp(base->name, "System.Enum") == 0)
        read_value(t, cls, in.imp, token, 1);
    else if (base && strcmp(base->name, "System.ValueType") == 0 && strcmp(name, "System.Enum") != 0)
        read_value(t, cls, in.imp, token, 0);
    return t;
}

const struct sxs_type *sxs_types_add_locked(sxs_class cls)
{
    const struct sxs_type *known = sxs_types_find(cls.rt, cls.id);
    struct sxs_type       *t;
    if (known || !cls.id || types.depth >= DEPTH_MAX)
        return known;
    types.depth++;
    t = array_locked(cls);
    if (!t)
        t = class_locked(cls);
    types.depth--;
    if (t)
        enlist_locked(t);
    return t;
}

const struct sxs_type *sxs_types_add(sxs_class cls)
{
    const struct sxs_type *t = sxs_types_find(cls.rt, cls.id);
    if (t || asking)
        return t;
    sxs_types_lock();
    t = sxs_types_add_locked(cls);
    sxs_types_unlock();
    return t;
}

void sxs_types_leave(struct sxs_runtime *rt, int (*is_leaving)(sxs_class cls))
{
    for (size_t b = 0; b < BUCKETS; b++)
        for (const struct sxs_type *t = atomic_load(&types.by_id[b]); t; t = t->next_id)
            if (t->rt == rt && !atomic_load(&t->gone) && is_leaving((sxs_class){rt, t->id}))
                sxs_types_forget((sxs_class){rt, t->id});
}
