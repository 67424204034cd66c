/* SPDX-License-Identifier: MIT */
/**
 * names.h - names of classes, methods and modules, for the profilers of tests.
 *
 * Each function writes a zero-terminated name of at most @size bytes to @out, "" when the runtime
 * does not tell it. Characters other than ASCII become '?'. Call them in callbacks.
 */
#ifndef SXS_TESTS_GUESTS_NAMES_H
#define SXS_TESTS_GUESTS_NAMES_H

#include "tests/guests/profiler.h"

static inline void prof_narrow(const WCHAR *from, char *out, size_t size)
{
    size_t n = 0;
    for (; from[n] && n + 1 < size; n++)
        out[n] = from[n] < 128 ? (char)from[n] : '?';
    out[n] = '\0';
}

/** The file name of a module, without its folder. */
static inline void prof_module_name(const struct prof *p, ModuleID module, char *out, size_t size)
{
    WCHAR       wide[1024] = {0};
    char        path[1024];
    const char *slash, *name;
    int         length;
    ULONG       n = 0;
    *out = '\0';
    if (FAILED(p->info->vtbl->GetModuleInfo(p->info, module, NULL, 1023, &n, wide, NULL)))
        return;
    prof_narrow(wide, path, sizeof(path));
    slash = strrchr(path, '/');
    name = slash ? slash + 1 : path;
    length = (int)strnlen(name, size - 1);
    snprintf(out, size, "%.*s", length, name);
}

/* Opens the metadata of a module. Returns NULL when there is none. */
static inline IMetaDataImport2 *prof_metadata(const struct prof *p, ModuleID module)
{
    IUnknown *meta = NULL;
    if (FAILED(p->info->vtbl->GetModuleMetaData(p->info, module, 0, &IID_IMetaDataImport2, &meta)))
        return NULL;
    return (IMetaDataImport2 *)(void *)meta;
}

/** The full name of a class: "Namespace.Type", of an array its element and "[]". */
static inline void prof_class_name(const struct prof *p, ClassID class_id, char *out, size_t size)
{
    ModuleID          module = 0;
    mdTypeDef         token = 0;
    ClassID           element = 0;
    CorElementType    kind;
    ULONG             rank = 0;
    WCHAR             wide[512] = {0};
    IMetaDataImport2 *meta;
    *out = '\0';
    if (p->info->vtbl->IsArrayClass(p->info, class_id, &kind, &element, &rank) == S_OK && element) {
        prof_class_name(p, element, out, size);
        if (*out)
            snprintf(out + strlen(out), size - strlen(out), "[]");
        return;
    }
    if (FAILED(p->info->vtbl->GetClassIDInfo(p->info, class_id, &module, &token)) || !module)
        return;
    meta = prof_metadata(p, module);
    if (!meta)
        return;
    if (SUCCEEDED(meta->vtbl->GetTypeDefProps(meta, token, wide, 511, NULL, NULL, NULL)))
        prof_narrow(wide, out, size);
    meta->vtbl->Release(meta);
}

/** The name of a method: "Namespace.Type.Method". */
static inline void prof_method_name(const struct prof *p, FunctionID fn, char *out, size_t size)
{
    ModuleID          module = 0;
    mdToken           token = 0;
    mdTypeDef         type = 0;
    WCHAR             wide[512] = {0};
    IMetaDataImport2 *meta;
    *out = '\0';
    if (FAILED(p->info->vtbl->GetFunctionInfo(p->info, fn, NULL, &module, &token)) || !module)
        return;
    meta = prof_metadata(p, module);
    if (!meta)
        return;
    if (SUCCEEDED(meta->vtbl->GetMethodProps(meta, token, &type, wide, 511, NULL, NULL, NULL, NULL,
                                             NULL, NULL))) {
        WCHAR owner[512] = {0};
        char  method[256];
        prof_narrow(wide, method, sizeof(method));
        if (SUCCEEDED(meta->vtbl->GetTypeDefProps(meta, type, owner, 511, NULL, NULL, NULL)))
            prof_narrow(owner, out, size);
        snprintf(out + strlen(out), size - strlen(out), ".%.*s",
                 (int)(size - strlen(out) > 2 ? size - strlen(out) - 2 : 0), method);
    }
    meta->vtbl->Release(meta);
}

/** Returns 1 when the method is marked NoInlining: it is compiled whatever other profilers do. */
static inline int prof_is_never_inlined(const struct prof *p, FunctionID fn)
{
    ModuleID          module = 0;
    mdToken           token = 0;
    DWORD             flags = 0;
    IMetaDataImport2 *meta;
    if (FAILED(p->info->vtbl->GetFunctionInfo(p->info, fn, NULL, &module, &token)) || !module)
        return 0;
    meta = prof_metadata(p, module);
    if (!meta)
        return 0;
    if (FAILED(meta->vtbl->GetMethodProps(meta, token, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
                                          &flags)))
        flags = 0;
    meta->vtbl->Release(meta);
    return (flags & 8) != 0; /* MethodImplAttributes.NoInlining */
}

/** Returns 1 when @name begins with "Profiled.", the namespace of the program that is counted. */
static inline int prof_is_programs(const char *name)
{
    return strncmp(name, "Profiled.", 9) == 0;
}

/** A count per name. */
struct prof_sums {
    pthread_mutex_t lock;
    unsigned        n;
    struct {
        char     name[120];
        uint64_t count;
    } rows[128];
};

static inline void prof_sums_add(struct prof_sums *t, const char *name, uint64_t count)
{
    unsigned i = 0;
    pthread_mutex_lock(&t->lock);
    while (i < t->n && strncmp(t->rows[i].name, name, sizeof(t->rows[i].name) - 1) != 0)
        i++;
    if (i == t->n && t->n < sizeof(t->rows) / sizeof(t->rows[0]))
        snprintf(t->rows[t->n++].name, sizeof(t->rows[0].name), "%.*s",
                 (int)strnlen(name, sizeof(t->rows[0].name) - 1), name);
    if (i < t->n)
        t->rows[i].count += count;
    pthread_mutex_unlock(&t->lock);
}

/** Prints a line per name. */
static inline void prof_sums_say(const struct prof *p, const struct prof_sums *t)
{
    for (unsigned i = 0; i < t->n; i++)
        prof_say(p, "%s %llu", t->rows[i].name, (unsigned long long)t->rows[i].count);
}

#endif
