/* SPDX-License-Identifier: MIT */
#include "stackwalk/snapshot/dispatch.h"

#include <stdatomic.h>

#include "base/session_state.h"
#include "manager/module_info.h"

/* Indexed by runtime number. Runtimes with higher numbers are treated as having no such code. */
#define MAX_RUNTIMES 64

static const WCHAR *const names[] = {
    u"System.Runtime.EH",
    u"System.Runtime.StackFrameIterator",
    u"System.Runtime.ExceptionServices.InternalCalls",
};

static struct {
    _Atomic ModuleID core;                    /* System.Private.CoreLib; 0: not seen */
    int              learned;                 /* 1: looked up; only used by the thread that walks */
    mdTypeDef        types[ARRAY_LEN(names)]; /* 0: this runtime version has no such class */
} runtimes[MAX_RUNTIMES];
SXS_SESSION_KEEPS(runtimes); /* the classes of a runtime stay */

void sxs_dispatch_module(sxs_module module)
{
    unsigned number = sxs_runtime_number(module.rt);
    ModuleID none = 0;
    if (number < MAX_RUNTIMES)
        atomic_compare_exchange_strong(&runtimes[number].core, &none, module.id);
}

void sxs_dispatch_learn(struct sxs_runtime *rt)
{
    unsigned          number = sxs_runtime_number(rt);
    IMetaDataImport2 *import;
    sxs_module        core = {rt, 0};
    if (number >= MAX_RUNTIMES || runtimes[number].learned)
        return;
    core.id = atomic_load(&runtimes[number].core);
    if (!core.id)
        return;
    runtimes[number].learned = 1;
    import = sxs_module_import(core);
    if (!import)
        return;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (FAILED(
                import->vtbl->FindTypeDefByName(import, names[i], 0, &runtimes[number].types[i])))
            runtimes[number].types[i] = 0;
    import->vtbl->Release(import);
}

int sxs_dispatch_is(sxs_function fn)
{
    unsigned   number = sxs_runtime_number(fn.rt);
    sxs_class  cls = {fn.rt, 0};
    sxs_module module = {fn.rt, 0};
    mdToken    token = 0;
    mdTypeDef  type = 0;
    if (number >= MAX_RUNTIMES || !runtimes[number].learned)
        return 0;
    if (FAILED(sxs_info_GetFunctionInfo(fn.rt, fn, &cls, &module, &token)) ||
        module.id != atomic_load(&runtimes[number].core) || !cls.id ||
        FAILED(sxs_info_GetClassIDInfo(fn.rt, cls, &module, &type)) || !type)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (runtimes[number].types[i] == type)
            return 1;
    return 0;
}
