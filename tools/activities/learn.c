/* SPDX-License-Identifier: MIT */
/* learn.c - asks a runtime for the classes, the fields and the addresses that read.c needs. On the
 * recorder's thread, which no runtime knows. */
#include "tools/activities/activities_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/guarded.h"
#include "base/log.h"
#include "base/text/utf8.h"
#include "manager/module_info.h"
#include "values/layout.h"

#define POINTER         8u
#define PATH_UNITS      4096u
#define THREAD_BYTES    4096u /* of the runtime's own thread that are searched for the handle */
#define MAP_PREFIX      "System.Threading.AsyncLocalValueMap+"
#define ENTRY_STRIDE    24u /* of Dictionary: key, value, hash code, index of the next */
#define KEY_VALUE_BYTES 16u

/* ---- modules and threads --------------------------------------------------------------------- */

static int has_name(const WCHAR *path, size_t n, const char *name)
{
    char        text[PATH_UNITS];
    const char *slash;
    sxs_utf8_of(path, n, text, sizeof(text));
    slash = strrchr(text, '/');
    return strcmp(slash ? slash + 1 : text, name) == 0;
}

void sxs_activities_module(struct sxs_activities *a, sxs_module module)
{
    WCHAR        path[PATH_UNITS] = {0};
    sxs_assembly assembly = {0};
    ULONG        n = 0;
    DWORD        flags;
    if (FAILED(sxs_info_GetModuleInfo2(module.rt, module, NULL, PATH_UNITS - 1, &n, path, &assembly,
                                       &flags)))
        return;
    if (!atomic_load(&a->core) && has_name(path, PATH_UNITS, "System.Private.CoreLib.dll"))
        atomic_store(&a->core, module.id);
    else if (!atomic_load(&a->diagnostics) &&
             has_name(path, PATH_UNITS, "System.Diagnostics.DiagnosticSource.dll"))
        atomic_store(&a->diagnostics, module.id);
}

/* Notes the modules and threads from before the start. The list of threads is made under the lock
 * that a runtime holds while its threads are stopped, so a stop whose beginning was not reported is
 * over by then. */
static void list_earlier(struct sxs_activities *a)
{
    ICorProfilerModuleEnum *modules = NULL;
    ICorProfilerThreadEnum *threads = NULL;
    ULONG                   n = 0;
    uintptr_t               id;
    if (FAILED(sxs_info_EnumModules(a->rt, &modules)) || !modules)
        return;
    while (modules->vtbl->Next(modules, 1, &id, &n) == S_OK && n)
        sxs_activities_module(a, (sxs_module){a->rt, id});
    modules->vtbl->Release(modules);
    if (FAILED(sxs_info_EnumThreads(a->rt, &threads)) || !threads)
        return;
    while (threads->vtbl->Next(threads, 1, &id, &n) == S_OK && n) {
        DWORD tid = 0;
        if (SUCCEEDED(sxs_info_GetThreadInfo(a->rt, (sxs_thread){a->rt, id}, &tid)) && tid)
            sxs_activities_thread(a, (sxs_thread){a->rt, id}, tid);
    }
    threads->vtbl->Release(threads);
    a->is_listed = 1;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Returns a loaded class, or 0. @token: receives its token if it is there at all. */
static uintptr_t find_class(sxs_module module, const WCHAR *name, mdTypeDef *token)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    sxs_class         cls = {module.rt, 0};
    if (!imp)
        return 0;
    if (FAILED(imp->vtbl->FindTypeDefByName(imp, name, 0, token)) ||
        FAILED(sxs_info_GetClassFromTokenAndTypeArgs(module.rt, module, *token, 0, NULL, &cls)))
        cls.id = 0;
    imp->vtbl->Release(imp);
    return cls.id;
}

/* Returns the offset of a field, or 0 when there is none. */
static uint32_t offset_of(const struct sxs_layout *layout, const char *name)
{
    const struct sxs_field *field = layout ? sxs_layout_field(layout, name) : NULL;
    return field ? field->offset : 0;
}

static int learn_core(struct sxs_activities *a)
{
    sxs_module core = {a->rt, atomic_load(&a->core)};
    mdTypeDef  token;
    if (!core.id || !(a->thread = find_class(core, u"System.Threading.Thread", &token)) ||
        !(a->context = find_class(core, u"System.Threading.ExecutionContext", &token)) ||
        !(a->string = find_class(core, u"System.String", &token)))
        return 0;
    const struct sxs_layout *thread = sxs_layout_get((sxs_class){a->rt, a->thread});
    const struct sxs_layout *context = sxs_layout_get((sxs_class){a->rt, a->context});
    a->native_at = offset_of(thread, "_DONT_USE_InternalThread");
    a->context_at = offset_of(thread, "_executionContext");
    a->values_at = offset_of(context, "m_localValues");
    return a->native_at && a->context_at && a->values_at;
}

static int find_domain(sxs_module module, sxs_appdomain *domain)
{
    sxs_assembly assembly = {0};
    DWORD        flags;
    ULONG        n;
    return SUCCEEDED(
               sxs_info_GetModuleInfo2(module.rt, module, NULL, 0, &n, NULL, &assembly, &flags)) &&
           SUCCEEDED(sxs_info_GetAssemblyInfo(module.rt, assembly, 0, &n, NULL, domain, NULL));
}

/* Finds the static field Activity.s_current, whose object is the key of the value. Returns 0 as
 * long as the class is not used. */
static int learn_key(struct sxs_activities *a)
{
    sxs_module        module = {a->rt, atomic_load(&a->diagnostics)};
    mdTypeDef         type = 0;
    mdFieldDef        field = 0;
    sxs_appdomain     domain = {a->rt, 0};
    void             *address = NULL;
    IMetaDataImport2 *imp;
    if (!module.id || !(a->activity = find_class(module, u"System.Diagnostics.Activity", &type)) ||
        !find_domain(module, &domain) || !(imp = sxs_module_import(module)))
        return 0;
    if (FAILED(imp->vtbl->FindField(imp, type, u"s_current", NULL, 0, &field)) ||
        FAILED(sxs_info_GetAppDomainStaticAddress(a->rt, (sxs_class){a->rt, a->activity}, field,
                                                  domain, &address)))
        address = NULL;
    imp->vtbl->Release(imp);
    a->key_at = (uintptr_t)address;
    return address != NULL;
}

/* ---- the handle of the managed Thread -------------------------------------------------------- */

static uintptr_t word_at(int reliable, uintptr_t at)
{
    uintptr_t word = 0;
    return at && !(at % POINTER) && sxs_activities_bytes(reliable, &word, at, sizeof(word)) ? word
                                                                                            : 0;
}

/* Adds a vote for each offset in the runtime's thread @native where a handle of its Thread lies:
 * the handle refers to a Thread, and that refers to @native. */
static void vote_for_handles(const struct sxs_activities *a, uintptr_t native, uint8_t *votes)
{
    uintptr_t words[THREAD_BYTES / POINTER];
    int       reliable = sxs_guarded_reliable();
    uint32_t  stops = atomic_load(&a->stops);
    uint8_t   found[THREAD_BYTES / POINTER] = {0};
    if ((stops & 1) || native % POINTER)
        return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        uintptr_t handle = word_at(reliable, native + i * POINTER);
        uintptr_t object = handle > UINT32_MAX ? word_at(reliable, handle) : 0;
        found[i] = object > UINT32_MAX && word_at(reliable, object) == a->thread &&
                   word_at(reliable, object + a->native_at) == native;
    }
    if (atomic_load(&a->stops) != stops)
        return;
    for (size_t i = 0; i < ARRAY_LEN(found); i++)
        votes[i] += found[i];
}

static int learn_handle(struct sxs_activities *a)
{
    uint8_t votes[THREAD_BYTES / POINTER] = {0};
    size_t  best = 0;
    for (size_t i = 0; i < SXS_RECENT_THREADS; i++) {
        uintptr_t native = atomic_load(&a->recent[i]);
        if (native)
            vote_for_handles(a, native, votes);
    }
    for (size_t i = 1; i < ARRAY_LEN(votes); i++)
        if (votes[i] > votes[best])
            best = i;
    a->handle_at = (uint32_t)(best * POINTER);
    return best != 0;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static int has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void add_pair(struct sxs_shape *out, uint32_t key, uint32_t value)
{
    if (!key || !value || out->pairs.n == SXS_SHAPE_PAIRS_MAX)
        return;
    out->kind = SXS_SHAPE_PAIRS;
    out->pairs.key[out->pairs.n] = key;
    out->pairs.value[out->pairs.n++] = value;
}

/* Fields _item0, _item1 and so on, each a KeyValuePair; or (after .NET 10) _key1 and _value1. */
static void find_pairs(const struct sxs_layout *layout, struct sxs_shape *out)
{
    for (unsigned i = 0; i <= SXS_SHAPE_PAIRS_MAX; i++) {
        char     item[16], key[16], value[16];
        uint32_t item_at;
        snprintf(item, sizeof(item), "_item%u", i);
        snprintf(key, sizeof(key), "_key%u", i);
        snprintf(value, sizeof(value), "_value%u", i);
        item_at = offset_of(layout, item);
        if (item_at)
            add_pair(out, item_at, item_at + POINTER);
        else
            add_pair(out, offset_of(layout, key), offset_of(layout, value));
    }
}

static void shape_of_map(const struct sxs_layout *layout, struct sxs_shape *out)
{
    uint32_t pairs = offset_of(layout, "_keyValues"), entries = offset_of(layout, "_entries");
    if (strcmp(layout->name, MAP_PREFIX "EmptyAsyncLocalValueMap") == 0) {
        out->kind = SXS_SHAPE_EMPTY;
    } else if (pairs || entries) {
        out->kind = SXS_SHAPE_ARRAY;
        out->array.array = pairs ? pairs : entries;
        out->array.stride = pairs ? KEY_VALUE_BYTES : ENTRY_STRIDE;
    } else {
        find_pairs(layout, out);
    }
}

static void shape_of_activity(const struct sxs_layout *layout, struct sxs_shape *out)
{
    out->activity.trace = offset_of(layout, "_traceId");
    out->activity.span = offset_of(layout, "_spanId");
    out->activity.parent = offset_of(layout, "<Parent>k__BackingField");
    out->activity.operation = offset_of(layout, "<OperationName>k__BackingField");
    out->activity.display = offset_of(layout, "_displayName");
    out->activity.tags = offset_of(layout, "_tags");
    if (out->activity.trace && out->activity.span)
        out->kind = SXS_SHAPE_ACTIVITY;
}

/* A tag is a node of a list; its value is a key and an object. */
static void shape_of_tag(const struct sxs_layout *layout, struct sxs_shape *out)
{
    uint32_t value = offset_of(layout, "Value"), next = offset_of(layout, "Next");
    if (!value || !next)
        return;
    out->kind = SXS_SHAPE_TAG;
    out->tag.key = value;
    out->tag.value = value + POINTER;
    out->tag.next = next;
}

static int is_activity(const struct sxs_activities *a, const struct sxs_layout *layout)
{
    for (unsigned i = 0; layout && i < 16; i++) {
        if (layout->id == a->activity)
            return 1;
        layout = layout->parent ? sxs_layout_get((sxs_class){a->rt, layout->parent}) : NULL;
    }
    return 0;
}

static void learn_shape(struct sxs_activities *a, struct sxs_seen_class *c, uintptr_t id)
{
    const struct sxs_layout *layout = sxs_layout_get((sxs_class){a->rt, id});
    struct sxs_shape         shape = {.kind = SXS_SHAPE_OTHER};
    if (!layout)
        return;
    if (has_prefix(layout->name, MAP_PREFIX))
        shape_of_map(layout, &shape);
    else if (has_prefix(layout->name, "System.Diagnostics.Activity+TagsLinkedList"))
        shape =
            (struct sxs_shape){.kind = SXS_SHAPE_TAGS, .tags_first = offset_of(layout, "_first")};
    else if (has_prefix(layout->name, "System.Diagnostics.DiagNode`1"))
        shape_of_tag(layout, &shape);
    else if (is_activity(a, layout))
        shape_of_activity(layout, &shape);
    if (shape.kind == SXS_SHAPE_TAGS && !shape.tags_first)
        shape.kind = SXS_SHAPE_OTHER;
    c->shape = shape;
    c->module = layout->module;
    atomic_store_explicit(&c->known, 1, memory_order_release);
}

static void learn_shapes(struct sxs_activities *a)
{
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++) {
        struct sxs_seen_class *c = &a->seen[i];
        uintptr_t              id = atomic_load_explicit(&c->id, memory_order_acquire);
        if (id > SXS_SEEN_UNLOADED && !atomic_load(&c->known))
            learn_shape(a, c, id);
    }
}

void sxs_activities_learn(struct sxs_activities *a)
{
    if (!a->is_listed)
        list_earlier(a);
    if (atomic_load(&a->ready)) {
        learn_shapes(a);
        return;
    }
    if (!a->is_listed || !atomic_load(&a->diagnostics) || !learn_key(a))
        return;
    if (!learn_core(a)) {
        if (!a->is_warned)
            sxs_warn("tool sample: runtime %u (%s): samples have no traces: its classes are not as "
                     "expected",
                     a->number, sxs_runtime_version(a->rt));
        a->is_warned = 1;
        return;
    }
    if (learn_handle(a))
        atomic_store_explicit(&a->ready, 1, memory_order_release);
}
