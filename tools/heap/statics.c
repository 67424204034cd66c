/* SPDX-License-Identifier: MIT */
#include "tools/heap/statics.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/text/buffer.h"
#include "instr/metadata/signature.h"
#include "manager/module_info.h"

#define TABLE_FIELD    0x04000000u
#define NAME_MAX_UNITS 512u

enum { FIELD_STATIC = 0x10, FIELD_LITERAL = 0x40 };

struct search {
    struct sxs_heap_sink    *sink;
    struct sxs_index         wanted;     /* texts of sink->names; one element for each text */
    struct sxs_index         by_address; /* sink->names by id */
    struct sxs_heap_classes *classes;
    sxs_appdomain            domain; /* a runtime has one */
    mdFieldDef               field;  /* that is looked at */
    const char              *name;   /* its name */
    struct sxs_runtime      *rt;
    struct sxs_heap_slots   *slots; /* NULL: wanted names are searched for */
};

/* ---- wanted names ---------------------------------------------------------------------------- */

static uint32_t hash_text(const char *text)
{
    return (uint32_t)(sxs_hash_id(sxs_hash_text(0, text)) >> 32);
}

static int is_wanted(struct search *s, const char *text)
{
    uint32_t hash = hash_text(text), number;
    size_t   at = hash;
    for (; (number = sxs_index_next(&s->wanted, hash, &at)) != 0; at++)
        if (strcmp(s->sink->names[number - 1].field, text) == 0)
            return 1;
    return 0;
}

/* Enters the names of all static fields into both indexes. Returns their number; 0: nothing to do,
 * or no memory. */
static size_t index_names(struct search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->sink->n_names; i++) {
        const struct sxs_heap_named *named = &s->sink->names[i];
        uint32_t                     hash;
        size_t                       at;
        if (!named->field)
            continue;
        if (sxs_index_reserve(&s->wanted) != 0 || sxs_index_reserve(&s->by_address) != 0)
            return 0;
        if (!is_wanted(s, named->field)) {
            at = hash = hash_text(named->field);
            sxs_index_next(&s->wanted, hash, &at); /* finds the free slot, unless hashes collide */
            if (!s->wanted.slots[at].number)
                sxs_index_put(&s->wanted, at, hash, i);
        }
        at = hash = (uint32_t)(sxs_hash_id(named->id) >> 32);
        while (sxs_index_next(&s->by_address, hash, &at))
            at++;
        sxs_index_put(&s->by_address, at, hash, i);
        n++;
    }
    return n;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Enters the class of the static field at an address, if that is wanted. */
static void set_class(struct search *s, uint64_t address, ClassID cls)
{
    uint32_t hash = (uint32_t)(sxs_hash_id(address) >> 32), number;
    size_t   at = hash;
    for (; (number = sxs_index_next(&s->by_address, hash, &at)) != 0; at++) {
        if (s->sink->names[number - 1].id == address)
            s->sink->names[number - 1].cls = cls;
    }
}

static void add_slot(struct search *s, uint64_t address, ClassID cls)
{
    struct sxs_heap_slots *slots = s->slots;
    struct sxs_heap_slot  *slot;
    if (slots->n == slots->max) {
        size_t                more = slots->max ? 2 * slots->max : 1024;
        struct sxs_heap_slot *grown = realloc(slots->all, more * sizeof(*grown));
        if (!grown)
            return;
        slots->all = grown;
        slots->max = more;
    }
    slot = &slots->all[slots->n];
    *slot = (struct sxs_heap_slot){address, cls, strdup(s->name)};
    if (slot->field)
        slots->n++;
}

static int look_at_class(ClassID id, void *arg)
{
    struct search      *s = arg;
    struct sxs_runtime *rt = s->rt;
    sxs_class           cls = {rt, id};
    void               *address = NULL;
    COR_PRF_STATIC_TYPE kind = 0;
    if (SUCCEEDED(sxs_info_GetStaticFieldInfo(rt, cls, s->field, &kind)) &&
        (kind & COR_PRF_FIELD_APP_DOMAIN_STATIC) &&
        SUCCEEDED(sxs_info_GetAppDomainStaticAddress(rt, cls, s->field, s->domain, &address)) &&
        address) {
        if (s->slots)
            add_slot(s, (uint64_t)(uintptr_t)address, id);
        else
            set_class(s, (uint64_t)(uintptr_t)address, id);
    }
    return 0; /* other classes of a generic type may have one, too */
}

static int find_domain(struct search *s, sxs_module module)
{
    sxs_assembly assembly = {0};
    DWORD        flags;
    ULONG        n;
    return SUCCEEDED(
               sxs_info_GetModuleInfo2(module.rt, module, NULL, 0, &n, NULL, &assembly, &flags)) &&
           SUCCEEDED(sxs_info_GetAssemblyInfo(module.rt, assembly, 0, &n, NULL, &s->domain, NULL));
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Whether a field with this signature refers to an object. */
static int is_reference(const uint8_t *signature, size_t size)
{
    uint8_t type = size > 1 ? signature[1] : 0;
    if (type == SXS_ELEMENT_GENERICINST)
        type = size > 2 ? signature[2] : 0;
    return type == SXS_ELEMENT_STRING || type == SXS_ELEMENT_CLASS || type == SXS_ELEMENT_OBJECT ||
           type == SXS_ELEMENT_SZARRAY || type == SXS_ELEMENT_ARRAY;
}

static void search_module(struct search *s, sxs_module module)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    WCHAR             units[NAME_MAX_UNITS];
    mdTypeDef         type;
    ULONG             n, size;
    DWORD             flags;
    PCCOR_SIGNATURE   signature;
    if (!imp)
        return;
    s->field = TABLE_FIELD;
    while (SUCCEEDED(imp->vtbl->GetFieldProps(imp, ++s->field, &type, units, ARRAY_LEN(units), &n,
                                              &flags, &signature, &size, NULL, NULL, NULL))) {
        char            bytes[4 * NAME_MAX_UNITS];
        struct sxs_text text = sxs_text_in(bytes, sizeof(bytes));
        if ((flags & (FIELD_STATIC | FIELD_LITERAL)) != FIELD_STATIC || n == 0)
            continue;
        sxs_text_put_utf16(&text, units, n < ARRAY_LEN(units) ? n - 1 : ARRAY_LEN(units));
        s->name = bytes;
        if (s->slots ? is_reference(signature, size) : is_wanted(s, bytes))
            sxs_heap_classes_each(s->classes, module.id, type, look_at_class, s);
        s->name = NULL;
    }
    imp->vtbl->Release(imp);
}

static void search_modules(struct search *s)
{
    ModuleID id;
    for (size_t i = 0; (id = sxs_heap_classes_module_at(s->classes, i)) != 0; i++) {
        sxs_module module = {s->rt, id};
        if (s->domain.id || find_domain(s, module))
            search_module(s, module);
    }
}

void sxs_heap_statics_find(struct sxs_heap_classes *classes, struct sxs_heap_sink *sink)
{
    struct search s = {.sink = sink, .rt = sink->rt, .classes = classes};
    if (index_names(&s))
        search_modules(&s);
    sxs_index_free(&s.wanted);
    sxs_index_free(&s.by_address);
}

/* ---- static fields without a dump ------------------------------------------------------------ */

void sxs_heap_slots_find(struct sxs_heap_classes *classes, struct sxs_runtime *rt,
                         struct sxs_heap_slots *slots)
{
    struct search s = {.rt = rt, .classes = classes, .slots = slots};
    search_modules(&s);
}

void sxs_heap_slots_report(struct sxs_heap_slots *slots, struct sxs_heap_sink *sink)
{
    for (size_t i = 0; i < slots->n; i++) {
        struct sxs_heap_slot *slot = &slots->all[i];
        uint64_t              object = *(const uint64_t *)(uintptr_t)slot->address;
        if (sxs_heap_sink_slot(sink, object, slot->address, slot->cls, slot->field))
            slot->field = NULL;
    }
    sxs_heap_slots_free(slots);
}

void sxs_heap_slots_free(struct sxs_heap_slots *slots)
{
    for (size_t i = 0; i < slots->n; i++)
        free(slots->all[i].field);
    free(slots->all);
    *slots = (struct sxs_heap_slots){0};
}
