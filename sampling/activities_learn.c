/* SPDX-License-Identifier: MIT */
/* activities_learn.c - asks a runtime for the classes, the fields and the addresses that activities_read.c needs. On the
 * recorder's thread, which no runtime knows. */
#include "sampling/activities_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "manager/module_info.h"
#include "values/layout.h"

#define POINTER         8u
#define PATH_UNITS      4096u
#define THREAD_BYTES    4096u /* of the runtime's own thread that are searched for the handle */
#define MAP_PREFIX      "System.Threading.AsyncLocalValueMap+"
#define ENTRY_STRIDE    24u /* of Dictionary: key, value, hash code, index of the next */
#define KEY_VALUE_BYTES 16u
#define MAX_LEVELS      16u /* from a class to Activity */
#define FEW_METHODS     16u /* of a class, one of which is not generic */

/* Held while the runtime is asked about a class, so that the class is not unloaded. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(asking);
SXS_SESSION_KEEPS(asking);

static void warn_once(struct sxs_activities *a, const char *why)
{
    if (!a->is_warned)
        sxs_warn("tool sample: runtime %u (%s): samples have no traces: %s", a->number,
                 sxs_runtime_version(a->rt), why);
    a->is_warned = 1;
}

/* ---- modules and threads --------------------------------------------------------------------- */

static int has_name(const WCHAR *path, size_t n, const char *name)
{
    char        text[PATH_UNITS];
    const char *slash;
    sxs_utf8_of(path, n, text, sizeof(text));
    slash = strrchr(text, '/');
    return strcmp(slash ? slash + 1 : text, name) == 0;
}

static const char *const file_names[SXS_N_MODULES] = {
    [SXS_MODULE_CORE] = "System.Private.CoreLib.dll",
    [SXS_MODULE_DIAGNOSTICS] = "System.Diagnostics.DiagnosticSource.dll",
    [SXS_MODULE_KESTREL] = "Microsoft.AspNetCore.Server.Kestrel.Core.dll",
    [SXS_MODULE_HTTP] = "Microsoft.AspNetCore.Http.dll",
    [SXS_MODULE_HOSTING] = "Microsoft.AspNetCore.Hosting.dll",
};

void sxs_activities_module(struct sxs_activities *a, sxs_module module)
{
    WCHAR        path[PATH_UNITS] = {0};
    sxs_assembly assembly = {0};
    ULONG        n = 0;
    DWORD        flags;
    if (FAILED(sxs_info_GetModuleInfo2(module.rt, module, NULL, PATH_UNITS - 1, &n, path, &assembly,
                                       &flags)))
        return;
    for (size_t i = 0; i < SXS_N_MODULES; i++)
        if (!atomic_load(&a->modules[i]) && has_name(path, PATH_UNITS, file_names[i]))
            atomic_store(&a->modules[i], module.id);
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

/* Returns a class, which must be loaded; 0: there is none of that name. */
static uintptr_t find_class(sxs_module module, const WCHAR *name)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    sxs_class         cls = {module.rt, 0};
    mdTypeDef         token;
    if (!imp)
        return 0;
    if (FAILED(imp->vtbl->FindTypeDefByName(imp, name, 0, &token)) ||
        FAILED(sxs_info_GetClassFromTokenAndTypeArgs(module.rt, module, token, 0, NULL, &cls)))
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

/* Both classes are among the first that a runtime loads, so they are loaded by now: the runtime
 * must not be asked for a class that it would have to load, because this thread is not its own. */
static int learn_core(struct sxs_activities *a)
{
    sxs_module core = {a->rt, atomic_load(&a->modules[SXS_MODULE_CORE])};
    if (!core.id || !(a->thread = find_class(core, u"System.Threading.Thread")) ||
        !(a->string = find_class(core, u"System.String")))
        return 0;
    const struct sxs_layout *thread = sxs_layout_get((sxs_class){a->rt, a->thread});
    a->native_at = offset_of(thread, "_DONT_USE_InternalThread");
    a->context_at = offset_of(thread, "_executionContext");
    return a->native_at && a->context_at;
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

/* Finds the static field Activity.s_current, whose object is the key of the value. @activity: the
 * class, of which there are objects. */
static void learn_key(struct sxs_activities *a, const struct sxs_layout *activity)
{
    sxs_module        module = {a->rt, activity->module};
    mdFieldDef        field = 0;
    sxs_appdomain     domain = {a->rt, 0};
    void             *address = NULL;
    IMetaDataImport2 *imp = find_domain(module, &domain) ? sxs_module_import(module) : NULL;
    if (!imp)
        return;
    if (FAILED(imp->vtbl->FindField(imp, activity->token, u"s_current", NULL, 0, &field)) ||
        FAILED(sxs_info_GetAppDomainStaticAddress(a->rt, (sxs_class){a->rt, activity->id}, field,
                                                  domain, &address)) ||
        !address)
        warn_once(a, "there is no Activity.s_current");
    imp->vtbl->Release(imp);
    if (!address)
        return;
    a->key_at = (uintptr_t)address;
    atomic_store_explicit(&a->learned, SXS_LEARNED_ALL, memory_order_release);
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
    uint32_t  n_stops;
    uint8_t   found[THREAD_BYTES / POINTER] = {0};
    if (!sxs_activities_running_since(a, &n_stops) || native % POINTER)
        return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        uintptr_t handle = word_at(reliable, native + i * POINTER);
        uintptr_t object = handle > UINT32_MAX ? word_at(reliable, handle) : 0;
        found[i] = object > UINT32_MAX && word_at(reliable, object) == a->thread &&
                   word_at(reliable, object + a->native_at) == native;
    }
    if (atomic_load(&a->n_stops) != n_stops)
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

/* ---- roles ---------------------------------------------------------------------------------- */

static int has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void add_pair(struct sxs_role *out, uint32_t key, uint32_t value)
{
    if (!key || !value || out->pairs.n == SXS_ROLE_PAIRS_MAX)
        return;
    out->kind = SXS_ROLE_PAIRS;
    out->pairs.key[out->pairs.n] = key;
    out->pairs.value[out->pairs.n++] = value;
}

/* Fields _item0, _item1 and so on, each a KeyValuePair; or (after .NET 10) _key1 and _value1. */
static void find_pairs(const struct sxs_layout *layout, struct sxs_role *out)
{
    for (unsigned i = 0; i <= SXS_ROLE_PAIRS_MAX; i++) {
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

static void role_of_map(const struct sxs_layout *layout, struct sxs_role *out)
{
    uint32_t pairs = offset_of(layout, "_keyValues"), entries = offset_of(layout, "_entries");
    if (strcmp(layout->name, MAP_PREFIX "EmptyAsyncLocalValueMap") == 0) {
        out->kind = SXS_ROLE_EMPTY;
    } else if (pairs || entries) {
        out->kind = SXS_ROLE_ARRAY;
        out->array.array = pairs ? pairs : entries;
        out->array.stride = pairs ? KEY_VALUE_BYTES : ENTRY_STRIDE;
    } else {
        find_pairs(layout, out);
    }
}

static void role_of_activity(const struct sxs_layout *layout, struct sxs_role *out)
{
    out->activity.trace = offset_of(layout, "_traceId");
    out->activity.span = offset_of(layout, "_spanId");
    out->activity.parent = offset_of(layout, "<Parent>k__BackingField");
    out->activity.operation = offset_of(layout, "<OperationName>k__BackingField");
    out->activity.display = offset_of(layout, "_displayName");
    out->activity.tags = offset_of(layout, "_tags");
    if (out->activity.trace && out->activity.span)
        out->kind = SXS_ROLE_ACTIVITY;
}

/* A tag is a node of a list; its value is a key and an object. */
static void role_of_tag(const struct sxs_layout *layout, struct sxs_role *out)
{
    uint32_t value = offset_of(layout, "Value"), next = offset_of(layout, "Next");
    if (!value || !next)
        return;
    out->kind = SXS_ROLE_TAG;
    out->tag.key = value;
    out->tag.value = value + POINTER;
    out->tag.next = next;
}

/* Returns the layout of System.Diagnostics.Activity if @layout is that, or of a class derived from
 * it; else NULL. */
static const struct sxs_layout *activity_of(const struct sxs_activities *a,
                                            const struct sxs_layout     *layout)
{
    for (unsigned i = 0; layout && i < MAX_LEVELS; i++) {
        if (layout->module == atomic_load(&a->modules[SXS_MODULE_DIAGNOSTICS]) &&
            strcmp(layout->name, "System.Diagnostics.Activity") == 0)
            return layout;
        layout = layout->parent ? sxs_layout_get((sxs_class){a->rt, layout->parent}) : NULL;
    }
    return NULL;
}

static void role_of(struct sxs_activities *a, const struct sxs_layout *layout, struct sxs_role *out)
{
    const struct sxs_layout *activity;
    if (strcmp(layout->name, "System.Threading.ExecutionContext") == 0) {
        out->values = offset_of(layout, "m_localValues");
        out->kind = out->values ? SXS_ROLE_CONTEXT : SXS_ROLE_OTHER;
    } else if (has_prefix(layout->name, MAP_PREFIX)) {
        role_of_map(layout, out);
    } else if (has_prefix(layout->name, "System.Diagnostics.Activity+TagsLinkedList")) {
        out->tags_first = offset_of(layout, "_first");
        out->kind = out->tags_first ? SXS_ROLE_TAGS : SXS_ROLE_OTHER;
    } else if (has_prefix(layout->name, "System.Diagnostics.DiagNode`1")) {
        role_of_tag(layout, out);
    } else if (strcmp(layout->name, "Microsoft.AspNetCore.Routing.RouteEndpoint") == 0 ||
               strcmp(layout->name, "Microsoft.AspNetCore.Http.Endpoint") == 0) {
        out->endpoint.pattern = offset_of(layout, "<RoutePattern>k__BackingField");
        out->endpoint.display = offset_of(layout, "<DisplayName>k__BackingField");
        out->kind = out->endpoint.display ? SXS_ROLE_ENDPOINT : SXS_ROLE_OTHER;
    } else if (strcmp(layout->name, "Microsoft.AspNetCore.Routing.Patterns.RoutePattern") == 0) {
        out->raw = offset_of(layout, "<RawText>k__BackingField");
        out->kind = out->raw ? SXS_ROLE_PATTERN : SXS_ROLE_OTHER;
    } else if ((activity = activity_of(a, layout)) != NULL) {
        role_of_activity(layout, out);
        if (atomic_load(&a->learned) == SXS_LEARNED_THREADS)
            learn_key(a, activity);
    }
}

static void learn_role(struct sxs_activities *a, struct sxs_seen_class *c, uintptr_t id)
{
    const struct sxs_layout *layout = sxs_layout_get((sxs_class){a->rt, id});
    struct sxs_role          role = {.kind = SXS_ROLE_OTHER};
    if (layout)
        role_of(a, layout, &role);
    c->role = role; /* an array has no layout: nothing can be done with it */
    c->module = layout ? layout->module : 0;
    atomic_store_explicit(&c->known, 1, memory_order_release);
}

static void learn_roles(struct sxs_activities *a)
{
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++) {
        struct sxs_seen_class *c = &a->seen[i];
        uintptr_t              id;
        pthread_mutex_lock(&asking);
        id = atomic_load_explicit(&c->id, memory_order_acquire);
        if (id > SXS_SEEN_UNLOADED && !atomic_load(&c->known))
            learn_role(a, c, id);
        pthread_mutex_unlock(&asking);
    }
}

/* ---- requests of ASP.NET Core ---------------------------------------------------------------- */

/* Returns a class if it is loaded; 0: it is not yet, or there is none of that name. A runtime finds a
 * method by its token only if the class of the method is loaded, and loads nothing for that. */
static uintptr_t find_loaded(struct sxs_activities *a, enum sxs_activity_module at,
                             const WCHAR *name)
{
    sxs_module        module = {a->rt, atomic_load(&a->modules[at])};
    IMetaDataImport2 *imp = module.id ? sxs_module_import(module) : NULL;
    sxs_class         cls = {a->rt, 0};
    mdTypeDef         token;
    mdMethodDef       methods[FEW_METHODS];
    HCORENUM          list = NULL;
    ULONG             n = 0;
    if (!imp)
        return 0;
    if (SUCCEEDED(imp->vtbl->FindTypeDefByName(imp, name, 0, &token)) &&
        FAILED(imp->vtbl->EnumMethods(imp, &list, token, methods, ARRAY_LEN(methods), &n)))
        n = 0;
    for (ULONG i = 0; i < n && !cls.id; i++) {
        sxs_function function = {a->rt, 0};
        sxs_module   of = {a->rt, 0};
        mdToken      method;
        if (FAILED(sxs_info_GetFunctionFromToken(a->rt, module, methods[i], &function)) ||
            !function.id || FAILED(sxs_info_GetFunctionInfo(a->rt, function, &cls, &of, &method)))
            cls.id = 0;
    }
    if (list)
        imp->vtbl->CloseEnum(imp, list);
    imp->vtbl->Release(imp);
    return cls.id;
}

/* Classes are loaded when the first request comes, or earlier. They are asked for again until then. */
static void ask_for_requests(struct sxs_activities *a)
{
    struct sxs_request_layout *r = &a->requests;
    const struct sxs_layout   *layout;
    if (!(r->request = find_loaded(
              a, SXS_MODULE_KESTREL,
              u"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol")) ||
        !(r->feature = find_loaded(a, SXS_MODULE_HOSTING,
                                   u"Microsoft.AspNetCore.Hosting.HttpActivityFeature")) ||
        !(r->context =
              find_loaded(a, SXS_MODULE_HTTP, u"Microsoft.AspNetCore.Http.DefaultHttpContext")) ||
        !(r->task = find_loaded(a, SXS_MODULE_CORE, u"System.Threading.Tasks.Task")))
        return;
    layout = sxs_layout_get((sxs_class){a->rt, r->task});
    r->continuation_at = offset_of(layout, "m_continuationObject");
    layout = sxs_layout_get((sxs_class){a->rt, r->feature});
    r->activity_at = offset_of(layout, "<Activity>k__BackingField");
    layout = sxs_layout_get((sxs_class){a->rt, r->request});
    r->feature_at = offset_of(layout, "_currentIHttpActivityFeature");
    r->endpoint_feature_at = offset_of(layout, "_currentIEndpointFeature");
    r->endpoint_at = offset_of(layout, "_endpoint");
    r->base_at = offset_of(layout, "<PathBase>k__BackingField");
    r->path_at = offset_of(layout, "<Path>k__BackingField");
    if (r->continuation_at && r->activity_at && r->feature_at && r->endpoint_feature_at &&
        r->endpoint_at)
        atomic_store_explicit(&r->known, 1, memory_order_release);
}

static void learn_requests(struct sxs_activities *a)
{
    if (atomic_load(&a->learned) != SXS_LEARNED_ALL || atomic_load(&a->requests.known) ||
        !atomic_load(&a->modules[SXS_MODULE_KESTREL]))
        return;
    pthread_mutex_lock(&asking);
    ask_for_requests(a);
    pthread_mutex_unlock(&asking);
}

void sxs_activities_unloading(struct sxs_activities *a, sxs_module module)
{
    pthread_mutex_lock(&asking);
    for (size_t i = 0; module.id && i < SXS_N_MODULES; i++)
        if (atomic_load(&a->modules[i]) == module.id) {
            if (i <= SXS_MODULE_DIAGNOSTICS)
                atomic_store(&a->learned, SXS_LEARNED_NOTHING);
            atomic_store(&a->requests.known, 0);
            atomic_store(&a->modules[i], 0);
        }
    for (size_t i = 0; i < SXS_SEEN_CLASSES; i++) {
        struct sxs_seen_class *c = &a->seen[i];
        uintptr_t              id = atomic_load(&c->id);
        /* Objects of classes that are being unloaded are gone, so such a class is not met again. */
        if (id && (!atomic_load(&c->known) || (module.id && c->module == module.id)))
            atomic_compare_exchange_strong(&c->id, &id, SXS_SEEN_UNLOADED);
    }
    pthread_mutex_unlock(&asking);
}

void sxs_activities_learn(struct sxs_activities *a)
{
    if (!a->is_listed)
        list_earlier(a);
    if (atomic_load(&a->learned)) {
        learn_roles(a);
        learn_requests(a);
        return;
    }
    if (!a->is_listed || !atomic_load(&a->modules[SXS_MODULE_DIAGNOSTICS]) || a->is_warned)
        return;
    if (!learn_core(a))
        warn_once(a, "its class Thread is not as expected");
    else if (learn_handle(a))
        atomic_store_explicit(&a->learned, SXS_LEARNED_THREADS, memory_order_release);
}
