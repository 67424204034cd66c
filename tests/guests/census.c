/* SPDX-License-Identifier: MIT */
/*
 * census.c - a profiler that counts what the program itself does: modules, compilations and
 * exceptions.
 *
 * Other profilers of the same runtime may cause compilations, threads and collections, and keep
 * methods from being inlined. So only the program's own modules are counted, and only its methods
 * that are never inlined.
 */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-00000CE45050}";
const char prof_name[] = "census";

HRESULT prof_initialize(struct prof *p)
{
    struct prof_sums *t = calloc(1, sizeof(*t));
    pthread_mutex_init(&t->lock, NULL);
    p->own = t;
    return p->info->vtbl->SetEventMask(
        p->info, COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_CLASS_LOADS |
                     COR_PRF_MONITOR_ASSEMBLY_LOADS | COR_PRF_MONITOR_JIT_COMPILATION |
                     COR_PRF_MONITOR_EXCEPTIONS);
}

static void count_module(struct prof *p, const char *what, ModuleID module)
{
    char name[200], line[256];
    prof_module_name(p, module, name, sizeof(name));
    if (strncmp(name, "System.", 7) == 0 || strncmp(name, "Microsoft.", 10) == 0)
        return; /* of the runtime: other profilers can have them loaded */
    snprintf(line, sizeof(line), "%s %s", what, *name ? name : "(unnamed)");
    prof_sums_add(p->own, line, 1);
}

static void count_method(struct prof *p, const char *what, FunctionID fn)
{
    char name[200], line[256];
    prof_method_name(p, fn, name, sizeof(name));
    if (!prof_is_programs(name) || !prof_is_never_inlined(p, fn))
        return;
    snprintf(line, sizeof(line), "%s %s", what, name);
    prof_sums_add(p->own, line, 1);
}

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status)
{
    count_module(prof_of(self), SUCCEEDED(status) ? "loaded" : "not loaded", module);
    return S_OK;
}

HRESULT prof_ModuleAttachedToAssembly(ICorProfilerCallback11 *self, ModuleID module,
                                      AssemblyID assembly)
{
    (void)assembly;
    count_module(prof_of(self), "attached", module);
    return S_OK;
}

HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL safe)
{
    (void)safe;
    count_method(prof_of(self), "compiling", fn);
    return S_OK;
}

HRESULT prof_JITCompilationFinished(ICorProfilerCallback11 *self, FunctionID fn, HRESULT status,
                                    BOOL safe)
{
    (void)safe;
    count_method(prof_of(self), SUCCEEDED(status) ? "compiled" : "not compiled", fn);
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    static const unsigned events[] = {SXS_SLOT_ExceptionThrown,
                                      SXS_SLOT_ExceptionSearchCatcherFound,
                                      SXS_SLOT_ExceptionSearchFilterEnter,
                                      SXS_SLOT_ExceptionUnwindFinallyEnter,
                                      SXS_SLOT_ExceptionCatcherEnter,
                                      SXS_SLOT_ExceptionCatcherLeave,
                                      SXS_SLOT_ThreadCreated,
                                      SXS_SLOT_GarbageCollectionStarted};
    prof_sums_say(p, p->own);
    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        prof_say(p, "%s %llu", prof_names[events[i]], (unsigned long long)p->counts[events[i]]);
}
