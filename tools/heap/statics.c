/* SPDX-License-Identifier: MIT */
#include "tools/heap/statics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/safe_read.h"
#include "base/task.h"
#include "base/text/buffer.h"
#include "instr/metadata/signature.h"
#include "manager/module_info.h"

#define TABLE_FIELD    0x04000000u
#define NAME_MAX_UNITS 512u

enum { FIELD_STATIC = 0x10, FIELD_LITERAL = 0x40 };

struct statics_search {
    struct sxs_heap_sink    *sink;
    struct sxs_index         wanted;     /* texts of sink->names; one element for each text */
    struct sxs_index         by_address; /* sink->names by id */
    struct sxs_heap_classes *classes;
    sxs_appdomain            domain; /* a runtime has one */
    mdFieldDef               field;  /* that is looked at */
    const char              *name;   /* its name */
    struct sxs_runtime      *rt;
    struct sxs_heap_slots   *slots; /* NULL: wanted names are searched for */
    int                      all;   /* not only slots of threads */
};

/* ---- wanted names ---------------------------------------------------------------------------- */

static uint32_t hash_text(const char *text)
{
    return (uint32_t)(sxs_hash_id(sxs_hash_text(0, text)) >> 32);
}

static int is_wanted(struct statics_search *s, const char *text)
{
    uint32_t hash = hash_text(text), number;
    size_t   at = hash;
    for (; (number = sxs_index_next(&s->wanted, hash, &at)) != 0; at++)
        if (strcmp(s->sink->names[number - 1].field, text) == 0)
            return 1;
    return 0;
}

/* The runtime says where the value of a field lies; a value type's is in its box, after the pointer
 * to its type. */
static uint64_t value_in(uint64_t box)
{
    return box + sizeof(uint64_t);
}

static void index_address(struct statics_search *s, uint64_t address, size_t i)
{
    uint32_t hash = (uint32_t)(sxs_hash_id(address) >> 32);
    size_t   at = hash;
    while (sxs_index_next(&s->by_address, hash, &at))
        at++;
    sxs_index_put(&s->by_address, at, hash, i);
}

/* Enters the names of all static fields into both indexes. Returns their number; 0: nothing to do,
 * or no memory. */
static size_t index_names(struct statics_search *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->sink->n_names; i++) {
        const struct sxs_heap_named *named = &s->sink->names[i];
        uint32_t                     hash;
        size_t                       at;
        if (!named->field || named->tid) /* those of threads have their class */
            continue;
        if (sxs_index_reserve(&s->wanted) != 0 || sxs_index_reserve(&s->by_address) != 0)
            return 0;
        if (!is_wanted(s, named->field)) {
            at = hash = hash_text(named->field);
            sxs_index_next(&s->wanted, hash, &at); /* finds the free slot, unless hashes collide */
            if (!s->wanted.slots[at].number)
                sxs_index_put(&s->wanted, at, hash, i);
        }
        index_address(s, named->id, i);
        if (sxs_index_reserve(&s->by_address) == 0)
            index_address(s, value_in(named->object), i);
        n++;
    }
    return n;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The box of a value may have moved since the dump. So of fields of that name which are in a box of
 * the same type, a single one is taken for it. */
static void guess_class(struct statics_search *s, uint64_t address, ClassID cls)
{
    uint64_t type = 0;
    if (sxs_safe_read(&type, (uintptr_t)address - sizeof(type), sizeof(type)) != sizeof(type) ||
        !type)
        return;
    for (size_t i = 0; i < s->sink->n_names; i++) {
        struct sxs_heap_named *named = &s->sink->names[i];
        if (named->field && named->type == type && strcmp(named->field, s->name) == 0)
            named->guess = named->guess && named->guess != cls ? SXS_HEAP_SEVERAL : cls;
    }
}

static void use_guesses(const struct sxs_heap_sink *sink)
{
    for (size_t i = 0; i < sink->n_names; i++) {
        struct sxs_heap_named *named = &sink->names[i];
        if (named->field && !named->cls && named->guess != SXS_HEAP_SEVERAL)
            named->cls = named->guess;
    }
}

/* Enters the class of the static field at an address, if that is wanted. */
static void set_class(struct statics_search *s, uint64_t address, ClassID cls)
{
    uint32_t hash = (uint32_t)(sxs_hash_id(address) >> 32), number;
    int      found = 0;
    size_t   at = hash;
    for (; (number = sxs_index_next(&s->by_address, hash, &at)) != 0; at++) {
        struct sxs_heap_named *named = &s->sink->names[number - 1];
        if (named->id == address || value_in(named->object) == address) {
            named->cls = cls;
            found = 1;
        }
    }
    if (!found)
        guess_class(s, address, cls);
}

static void add_slot(struct statics_search *s, uint64_t address, ClassID cls)
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
    *slot = (struct sxs_heap_slot){address, cls, s->field, strdup(s->name)};
    if (slot->field)
        slots->n++;
}

static int look_at_class(ClassID id, void *arg)
{
    struct statics_search *s = arg;
    struct sxs_runtime    *rt = s->rt;
    sxs_class              cls = {rt, id};
    void                  *address = NULL;
    COR_PRF_STATIC_TYPE    kind = 0;
    if (FAILED(sxs_info_GetStaticFieldInfo(rt, cls, s->field, &kind)))
        return 0;
    if (kind & COR_PRF_FIELD_THREAD_STATIC) {
        if (s->slots)
            add_slot(s, 0, id);
        return 0;
    }
    if ((kind & COR_PRF_FIELD_APP_DOMAIN_STATIC) && (!s->slots || s->all) &&
        SUCCEEDED(sxs_info_GetAppDomainStaticAddress(rt, cls, s->field, s->domain, &address)) &&
        address) {
        if (s->slots)
            add_slot(s, (uint64_t)(uintptr_t)address, id);
        else
            set_class(s, (uint64_t)(uintptr_t)address, id);
    }
    return 0; /* other classes of a generic type may have one, too */
}

static int find_domain(struct statics_search *s, sxs_module module)
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

static void search_module(struct statics_search *s, sxs_module module)
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

static void search_modules(struct statics_search *s)
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
    struct statics_search s = {.sink = sink, .rt = sink->rt, .classes = classes};
    if (index_names(&s)) {
        search_modules(&s);
        use_guesses(sink);
    }
    sxs_index_free(&s.wanted);
    sxs_index_free(&s.by_address);
}

/* ---- static fields without a dump ------------------------------------------------------------ */

void sxs_heap_slots_find(struct sxs_heap_classes *classes, struct sxs_runtime *rt, int all,
                         struct sxs_heap_slots *slots)
{
    struct statics_search s = {.rt = rt, .classes = classes, .slots = slots, .all = all};
    search_modules(&s);
    slots->domain = s.domain;
}

/* Threads without a name of their own have that of the process. */
static void name_thread(uint32_t tid, char *name, size_t size)
{
    char process[64] = "";
    if (sxs_task_name(tid, name, size) != 0)
        name[0] = '\0';
    if (sxs_task_name((uint32_t)getpid(), process, sizeof(process)) == 0 &&
        strcmp(name, process) == 0)
        name[0] = '\0';
}

/* Reports the thread-static fields that have a value on one thread. */
static void report_thread(const struct sxs_heap_slots *slots, struct sxs_heap_sink *sink,
                          sxs_thread thread, uint32_t tid)
{
    char name[64] = "";
    int  is_named = 0;
    for (size_t i = 0; i < slots->n; i++) {
        const struct sxs_heap_slot *slot = &slots->all[i];
        sxs_class                   cls = {sink->rt, slot->cls};
        void                       *address = NULL;
        if (slot->address ||
            FAILED(sxs_info_GetThreadStaticAddress2(sink->rt, cls, slot->token, slots->domain,
                                                    thread, &address)) ||
            !address || !*(const uint64_t *)address)
            continue;
        if (!is_named)
            name_thread(tid, name, sizeof(name));
        is_named = 1;
        sxs_heap_sink_thread_slot(sink, *(const uint64_t *)address, (uint64_t)(uintptr_t)address,
                                  slot->cls, slot->field, tid, name);
    }
}

static void report_threads(const struct sxs_heap_slots *slots, struct sxs_heap_sink *sink)
{
    ICorProfilerThreadEnum *each = NULL;
    ThreadID                id;
    ULONG                   got = 0;
    if (FAILED(sxs_info_EnumThreads(sink->rt, &each)) || !each)
        return;
    while (each->vtbl->Next(each, 1, &id, &got) == S_OK && got == 1) {
        sxs_thread thread = {sink->rt, id};
        DWORD      tid = 0;
        if (SUCCEEDED(sxs_info_GetThreadInfo(sink->rt, thread, &tid)) && tid)
            report_thread(slots, sink, thread, tid);
    }
    each->vtbl->Release(each);
}

void sxs_heap_slots_report(struct sxs_heap_slots *slots, struct sxs_heap_sink *sink, int threads)
{
    if (threads)
        report_threads(slots, sink);
    for (size_t i = 0; i < slots->n; i++) {
        struct sxs_heap_slot *slot = &slots->all[i];
        if (!slot->address)
            continue;
        uint64_t object = *(const uint64_t *)(uintptr_t)slot->address;
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
